import FeedConfiguration
import FeedModel
import FeedStaging

/// Sources without a commit that refer to rows (`references`) of others without one. They begin after these, so that the
/// rows are there to be found.
struct FirstRuns {
    /// The tables that the sources write, and those to whose rows they refer; without circles.
    private var written: [String: [String]] = [:]
    private var lookedUp: [String: [String]] = [:]
    /// The sources that write each table and have not run yet.
    private var writers: [String: Set<String>] = [:]
    private var held: Set<String> = []

    private enum Node: Hashable {
        case source(Int)
        case table(String)

        var index: Int? { if case .source(let index) = self { index } else { nil } }
        var table: String? { if case .table(let name) = self { name } else { nil } }
    }

    init() {}

    /// - Parameter sources: those without a commit that are about to run.
    init(_ sources: [SourceDeclaration]) {
        guard sources.count > 1 else { return }
        let tables = sources.map(Tables.init)
        var writers: [String: [Int]] = [:]
        for (index, own) in tables.enumerated() {
            for table in own.written { writers[table, default: []].append(index) }
        }
        let nodes = sources.indices.map(Node.source) + writers.keys.sorted().map(Node.table)
        let positions = Dictionary(uniqueKeysWithValues: zip(nodes, nodes.indices))
        func needs(_ node: Node) -> [Node] {
            switch node {
            case .source(let index): tables[index].lookedUp.sorted().map(Node.table)
            case .table(let table): writers[table]?.map(Node.source) ?? []
            }
        }
        var placed: Set<Node> = []
        for node in nodes.ordered(behind: { needs($0).compactMap { positions[$0] } }) {
            // What comes later needs this node itself.
            let earlier = needs(node).filter(placed.contains)
            placed.insert(node)
            switch node {
            case .source(let index): lookedUp[sources[index].name] = earlier.compactMap(\.table)
            case .table(let table):
                let names = earlier.compactMap(\.index).map { sources[$0].name }
                self.writers[table] = Set(names)
                for name in names { written[name, default: []].append(table) }
            }
        }
    }

    /// True if no source waits for another one.
    var isEmpty: Bool { held.isEmpty }

    func holds(_ name: String) -> Bool { held.contains(name) }

    /// Lets a source wait if the first run of one that it needs has not ended.
    mutating func hold(_ name: String) -> Bool {
        guard mustWait(name) else { return false }
        held.insert(name)
        return true
    }

    private func mustWait(_ name: String) -> Bool {
        lookedUp[name]?.contains { writers[$0]?.isEmpty == false } ?? false
    }

    /// Notes that a source has run, whatever the outcome, or is no longer declared.
    ///
    /// - Returns: the sources that may begin now.
    mutating func ended(_ name: String) -> [String] {
        lookedUp[name] = nil
        for table in written.removeValue(forKey: name) ?? [] { writers[table]?.remove(name) }
        let free = held.filter { !mustWait($0) }.sorted()
        held.subtract(free)
        return free
    }
}

extension FirstRuns {
    /// The tables of a source's mappings, in lower case.
    private struct Tables {
        var written: Set<String> = []
        /// Those to whose rows the source refers, and that it does not write itself.
        var lookedUp: Set<String> = []

        init(_ source: SourceDeclaration) {
            for request in source.requests {
                guard case .mapping(let mapping) = request.content else { continue }
                written.formUnion(mapping.tables.map { $0.table.lowercased() })
                let references = mapping.tables.flatMap(\.columns).compactMap(\.reference)
                lookedUp.formUnion(references.filter { $0.missing != .create }.map { $0.table.lowercased() })
            }
            lookedUp.subtract(written)
        }
    }
}
