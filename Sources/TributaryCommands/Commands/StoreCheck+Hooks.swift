import FeedConfiguration
import FeedModel
import FeedParsing
import FeedStores

/// Hooks with rows: their conditions, and what they need of sources.
extension StoreCheck {
    /// Returns the mistakes in conditions of hooks, and notes on rows that they will not know.
    ///
    /// - Parameter stores: where the tables are; the first that has one counts.
    func hookFindings(
        _ stores: [any MainStore]
    ) throws -> Findings {
        var (mistakes, notes): ([Mistake], [Mistake]) = ([], [])
        for hook in configuration.hooks where hook.format.hasImages || hook.condition != nil {
            let place = configuration.place("hooks", hook.name)
            let sources = configuration.sources.filter { hook.concerns($0.name) }
            if hook.format.hasImages {
                let bare = sources.filter { !$0.keepsHistory }.map { "'\($0.name)'" }
                if !bare.isEmpty {
                    let key = hook.format == .debezium ? "format" : "values"
                    notes.append(
                        Mistake(
                            place.appending(key),
                            "without keep_history = true, 'before' is null, and 'after' is the row as it is when the event "
                                + "is sent: \(listed(bare))"))
                }
            }
            guard let condition = hook.condition else { continue }
            var columns: [String: Set<String>] = [:]
            var hidden: [String] = []
            for source in sources {
                let tables = source.requests.flatMap { program.parsers.tables(of: $0.content) }
                let conditions = try tables.compactMap { try condition.sql(for: $0).map(ChangeCondition.init) }
                if !source.keepsHistory, conditions.contains(where: \.readsBefore) { hidden.append("'\(source.name)'") }
                for table in tables where columns[table] == nil {
                    columns[table] = []
                    for store in stores where columns[table] == [] { columns[table] = try store.columns(of: table) }
                }
            }
            if !hidden.isEmpty {
                notes.append(
                    Mistake(
                        place.appending("where"),
                        "without keep_history = true, no row before a change is known, and each update passes: "
                            + listed(hidden)))
            }
            mistakes += try self.mistakes(condition, place.appending("where"), columns)
            let isClosed = sources.flatMap(\.requests).allSatisfy { !program.parsers.tables(of: $0.content).isEmpty }
            guard case .tables(let conditions) = condition, isClosed else { continue }
            let known = columns.keys.sorted()
            for name in conditions.keys.sorted() where !known.contains(where: { $0.lowercased() == name.lowercased() })
            {
                mistakes.append(
                    Mistake(
                        place.appending("where").appending(name), "no source of the hook writes this table",
                        help: didYouMean(name, among: known)))
            }
        }
        return (mistakes, notes)
    }

    /// Returns the mistakes of columns that a condition reads and tables do not have.
    private func mistakes(
        _ condition: HookCondition, _ place: KeyPlace, _ tables: [String: Set<String>]
    ) throws -> [Mistake] {
        try tables.sorted { $0.key < $1.key }.compactMap { table, columns in
            guard !columns.isEmpty, let sql = condition.sql(for: table),
                let missing = try ChangeCondition(sql).column(missingFrom: columns)
            else { return nil }
            let finding = "table '\(table)' has no column '\(missing)'"
            let nearest = didYouMean(missing, among: columns.sorted())
            guard case .everyTable = condition else {
                return Mistake(place.appending(table), finding, help: nearest)
            }
            return Mistake(
                place, finding, help: nearest ?? "for some tables alone, name them: where = { TABLE = \"…\" }")
        }
    }

    private func listed(_ names: [String]) -> String {
        names.prefix(5).joined(separator: ", ") + (names.count > 5 ? " and \(names.count - 5) more" : "")
    }
}
