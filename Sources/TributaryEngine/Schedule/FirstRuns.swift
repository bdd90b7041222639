import FeedConfiguration
import FeedModel
import FeedParsing
import FeedStaging

/// Sources without a commit that refer to rows (`references`) of others without one, or query them (`for_each`). They begin
/// after these, so that the rows are there to be found.
struct FirstRuns {
    /// The parsers that are registered, whose tables count as written.
    private let parsers: ParserRegistry
    /// The sources whose first run has not ended.
    private var pending: [String: Tables] = [:]
    /// Those whose runs so far have committed nothing.
    private var failed: [String: Tables] = [:]
    /// The tables whose rows each needs, and the sources that write each table and have not run yet. Together they have no
    /// cycles.
    private var lookedUp: [String: [String]] = [:]
    private var writers: [String: Set<String>] = [:]
    private var held: Set<String> = []

    private enum Node: Hashable {
        case source(String)
        case table(String)

        var name: String {
            switch self {
            case .source(let name), .table(let name): name
            }
        }
    }

    init(_ parsers: ParserRegistry) { self.parsers = parsers }

    /// Adds sources without a commit that are about to run.
    ///
    /// - Returns: the sources that need not wait any more, because those that are new cut a cycle elsewhere.
    @discardableResult
    mutating func add(_ sources: [SourceDeclaration]) -> [String] {
        guard !sources.isEmpty else { return [] }
        for source in sources { pending[source.name] = Tables(source, parsers) }
        order()
        return takeFree()
    }

    /// Adds sources without a commit that wait for a later attempt.
    mutating func addFailed(_ sources: [SourceDeclaration]) {
        for source in sources { failed[source.name] = Tables(source, parsers) }
    }

    private mutating func order() {
        (lookedUp, writers) = ([:], [:])
        var sources: [String: [String]] = [:]
        for (name, tables) in pending.sorted(by: { $0.key < $1.key }) {
            for table in tables.written { sources[table, default: []].append(name) }
        }
        let nodes = pending.keys.sorted().map(Node.source) + sources.keys.sorted().map(Node.table)
        let positions = Dictionary(uniqueKeysWithValues: zip(nodes, nodes.indices))
        func needs(_ node: Node) -> [Node] {
            switch node {
            case .source(let name): pending[name]?.lookedUp.sorted().map(Node.table) ?? []
            case .table(let table): sources[table]?.map(Node.source) ?? []
            }
        }
        var placed: Set<Node> = []
        for node in nodes.ordered(behind: { needs($0).compactMap { positions[$0] } }) {
            // A node that comes later is part of a cycle.
            let earlier = needs(node).filter(placed.contains)
            placed.insert(node)
            switch node {
            case .source(let name): lookedUp[name] = earlier.map(\.name)
            case .table(let table): writers[table] = Set(earlier.map(\.name))
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

    /// Notes that a source has run, whatever the outcome, or does not run any more.
    ///
    /// - Returns: the other sources that may begin now.
    mutating func ended(_ name: String) -> [String] {
        guard let tables = pending.removeValue(forKey: name) else { return [] }
        failed[name] = tables
        held.remove(name)
        lookedUp[name] = nil
        for table in tables.written { writers[table]?.remove(name) }
        // All are looked at only if a table has its rows now: thousands may wait.
        return tables.written.contains { writers[$0]?.isEmpty == true } ? takeFree() : []
    }

    /// Notes that a source that has run has a commit.
    ///
    /// - Returns: the other sources without a commit that need its rows. One that runs now may have begun without them.
    mutating func committed(_ name: String) -> [String] {
        guard let tables = failed.removeValue(forKey: name) else { return [] }
        let begun = pending.filter { !held.contains($0.key) }
        return failed.merging(begun) { first, _ in first }
            .filter { !$0.value.lookedUp.isDisjoint(with: tables.written) }.keys.sorted()
    }

    mutating func forget(_ name: String) { failed[name] = nil }

    private mutating func takeFree() -> [String] {
        let free = held.filter { !mustWait($0) }.sorted()
        held.subtract(free)
        return free
    }
}

extension FirstRuns {
    /// The tables of a source, in lower case.
    private struct Tables {
        var written: Set<String> = []
        /// Those whose rows the source needs, and that it does not write itself.
        var lookedUp: Set<String> = []

        init(_ source: SourceDeclaration, _ parsers: ParserRegistry) {
            for request in source.requests {
                written.formUnion(parsers.tables(of: request.content).map { $0.lowercased() })
                let mapped = request.content.mapping?.tables ?? []
                for reference in mapped.flatMap(\.columns).compactMap(\.reference) {
                    let table = reference.table.lowercased()
                    if reference.missing == .create { written.insert(table) } else { lookedUp.insert(table) }
                }
            }
            for case .query(let text)? in source.requests.map({ $0.forEach?.rows }) {
                // Any word of a query may be the name of a table.
                let words = text.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "_") }
                lookedUp.formUnion(words.map(String.init))
            }
            lookedUp.subtract(written)
        }
    }
}
