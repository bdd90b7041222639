/// Finds the tables for headers and dotted keys, and refuses additions where none are allowed (TOML 1.1, "Keys",
/// "Table", "Inline Table" and "Array of Tables").
extension OpenTable {
    /// Returns the table that a header opens.
    func opened(
        byHeader path: [TOMLKey], _ last: TOMLKey, isElement: Bool, line: Int, in source: TOMLBytes
    ) throws(TOMLError) -> OpenTable {
        var table = self
        for key in path { table = try table.entered(key, line: line, in: source) }
        return isElement
            ? try table.element(last, line: line, in: source) : try table.table(last, line: line, in: source)
    }

    /// Returns a table on the way to the one that a header opens.
    private func entered(_ key: TOMLKey, line: Int, in source: TOMLBytes) throws(TOMLError) -> OpenTable {
        guard let position = position(of: key.name) else { return try made(.path, key, line: line, in: source) }
        switch children[position].child {
        case .table(let table): return table
        case .elements(let array):
            guard let last = array.elements.last else { return try made(.path, key, line: line, in: source) }
            return last.table
        case .value(let value): throw taken(key, children[position].place.line, value, in: source)
        }
    }

    private func table(_ key: TOMLKey, line: Int, in source: TOMLBytes) throws(TOMLError) -> OpenTable {
        guard let position = position(of: key.name) else { return try made(.header, key, line: line, in: source) }
        let former = children[position].place.line
        switch children[position].child {
        case .table(let table) where table.origin == .path:
            table.origin = .header
            move(to: key, line: line, at: position)
            return table
        case .table(let table):
            throw table.origin == .header
                ? source.error(
                    "the table '\(key.shown)' is already defined, on line \(former)",
                    help: "rename one, or put the keys of both under one header", at: key.position)
                : source.error(
                    "the keys of the table '\(key.shown)' are given already, from line \(former) on",
                    help: "put them together", at: key.position)
        case .elements:
            throw source.error(
                "'\(key.shown)' is an array of tables, from line \(former) on", help: "write [[ ]] to add one",
                at: key.position
            )
        case .value(let value): throw taken(key, former, value, in: source)
        }
    }

    private func element(_ key: TOMLKey, line: Int, in source: TOMLBytes) throws(TOMLError) -> OpenTable {
        let array: OpenArray
        if let position = position(of: key.name) {
            let former = children[position].place.line
            switch children[position].child {
            case .elements(let elements): array = elements
            case .table:
                throw source.error(
                    "'\(key.shown)' is one table, on line \(former), and no array of tables", at: key.position)
            case .value(let value): throw taken(key, former, value, in: source)
            }
        } else {
            array = OpenArray()
            append(key, line: line, .elements(array))
        }
        // The array counts as a level too.
        let table = OpenTable(.header, depth: try inner(2, key, in: source))
        array.append(table, at: TOMLPlace(line: line, key: key.range))
        return table
    }

    /// Returns the table that the last name of a dotted key belongs to.
    ///
    /// - Parameter path: the names before the last one.
    func opened(_ path: [TOMLKey], line: Int, in source: TOMLBytes) throws(TOMLError) -> OpenTable {
        var table = self
        for key in path {
            guard let position = table.position(of: key.name) else {
                table = try table.made(.key, key, line: line, in: source)
                continue
            }
            let former = table.children[position].place.line
            switch table.children[position].child {
            case .table(let inner) where inner.origin == .header:
                throw source.error(
                    "the table '\(key.shown)' has a header, on line \(former)", help: "write its keys below that",
                    at: key.position)
            case .table(let inner):
                inner.origin = .key
                table = inner
            case .elements:
                throw source.error(
                    "'\(key.shown)' is an array of tables, from line \(former) on", help: "write [[ ]] to add one",
                    at: key.position)
            case .value(let value): throw taken(key, former, value, in: source)
            }
        }
        return table
    }

    func add(
        _ value: TOMLValue, from range: Range<Int>, at key: TOMLKey, line: Int, in source: TOMLBytes
    ) throws(TOMLError) {
        if let position = position(of: key.name) {
            throw source.error(
                "the key '\(key.shown)' is already defined, on line \(children[position].place.line)",
                help: "remove one of the two",
                at: key.position)
        }
        append(key, line: line, .value(value), value: range)
    }

    private func made(_ origin: Origin, _ key: TOMLKey, line: Int, in source: TOMLBytes) throws(TOMLError) -> OpenTable
    {
        let table = OpenTable(origin, depth: try inner(1, key, in: source))
        append(key, line: line, .table(table))
        return table
    }

    private func inner(_ levels: Int, _ key: TOMLKey, in source: TOMLBytes) throws(TOMLError) -> Int {
        guard depth + levels <= TOMLLimits.depth else {
            throw source.error("tables and arrays are nested more than \(TOMLLimits.depth) deep", at: key.position)
        }
        return depth + levels
    }

    private func taken(_ key: TOMLKey, _ line: Int, _ value: TOMLValue, in source: TOMLBytes) -> TOMLError {
        let why =
            switch value {
            case .table: "is a table in braces, on line \(line); nothing can be added to it outside of them"
            case .array: "is an array in brackets, on line \(line); nothing can be added to it outside of them"
            default: "is \(value.typeName), on line \(line), and cannot also be a table"
            }
        return source.error("'\(key.shown)' \(why)", at: key.position)
    }
}
