/// A table while its document is being read. Its origin decides what may still add to it.
final class OpenTable {
    enum Origin {
        /// Created on the way to another table: `a` in `[a.b]`. Its own header may follow.
        case path
        /// Created by its own header, or as an element of an array of tables.
        case header
        /// Created by a dotted key, or by braces. No header may follow.
        case key
    }

    enum Child {
        case value(TOMLValue)
        case table(OpenTable)
        case elements(OpenArray)
    }

    // No access to these properties lasts beyond a statement: checks of that at run time took a tenth of the reading.
    @exclusivity(unchecked) var origin: Origin
    /// The number of tables and arrays around it.
    let depth: Int
    @exclusivity(unchecked) private(set) var children: [(key: String, place: TOMLPlace, child: Child)] = []
    @exclusivity(unchecked) private var positions: [String: Int] = [:]

    init(_ origin: Origin, depth: Int) {
        self.origin = origin
        self.depth = depth
    }

    func position(of key: String) -> Int? {
        positions.isEmpty ? children.firstIndex { $0.key == key } : positions[key]
    }

    /// - Precondition: the table does not have the key.
    func append(_ key: TOMLKey, line: Int, _ child: Child, value: Range<Int> = 0..<0) {
        children.append((key.name, TOMLPlace(line: line, key: key.range, value: value), child))
        if !positions.isEmpty {
            positions[key.name] = children.count - 1
        } else if children.count > TOMLTable.few {
            for (index, child) in children.enumerated() { positions[child.key] = index }
        }
    }

    /// Moves a table to its header.
    func move(to key: TOMLKey, line: Int, at position: Int) {
        children[position].place = TOMLPlace(line: line, key: key.range)
    }

    /// Returns the finished table.
    func closed() -> TOMLTable {
        TOMLTable(
            children.map { key, place, child in
                switch child {
                case .value(let value): .init(key: key, node: TOMLNode(value, at: place))
                case .table(let table): .init(key: key, node: TOMLNode(.table(table.closed()), at: place))
                case .elements(let array): .init(key: key, node: TOMLNode(.array(array.closed()), at: place))
                }
            })
    }
}

/// An array of tables while its document is being read. Each `[[header]]` adds a table.
final class OpenArray {
    private(set) var elements: [(table: OpenTable, place: TOMLPlace)] = []

    func append(_ table: OpenTable, at place: TOMLPlace) { elements.append((table, place)) }

    func closed() -> [TOMLNode] { elements.map { TOMLNode(.table($0.table.closed()), at: $0.place) } }
}
