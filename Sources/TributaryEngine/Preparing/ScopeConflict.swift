package import FeedConfiguration
import FeedFetching
package import FeedModel
package import FeedParsing

/// A conflict of two requests: no column of their table's key distinguishes the rows of the two, or one of them removes the
/// files of the other.
package struct ScopeConflict: Sendable {
    package let mistake: Mistake
    /// True if each commit takes rows of the other request; false if it may be intended.
    package let isMistake: Bool

    /// Returns the mistakes that the declarations alone show, without the primary keys of tables.
    package static func mistakes(in configuration: TributaryConfiguration, parsers: ParserRegistry) -> [Mistake] {
        (files(in: configuration) + sharedTables(of: configuration, parsers).flatMap { scopes($0, []) }).map(\.mistake)
    }

    /// Returns all conflicts between enabled sources that declare their tables.
    ///
    /// - Parameter primaryKey: returns the primary key of a table; empty where there is none.
    package static func all(
        in configuration: TributaryConfiguration, parsers: ParserRegistry,
        primaryKey: (_ table: String) throws -> [String]
    ) rethrows -> [ScopeConflict] {
        let ofTables = try sharedTables(of: configuration, parsers).flatMap { writers in
            let key = try primaryKey(writers[0].table)
            return scopes(writers, key) + mirrors(writers)
        }
        return files(in: configuration) + ofTables
    }

    /// The requests that read the files of another request of their source, and that do not treat them alike after the commit.
    private static func files(in configuration: TributaryConfiguration) -> [ScopeConflict] {
        let sources = configuration.enabledSources.filter { $0.requests.contains { $0.afterCommit != nil } }
        return sources.flatMap { source in
            var readers: [String: RequestDeclaration] = [:]
            return source.requests.compactMap { request -> ScopeConflict? in
                guard let target = try? request.prepare().target else { return nil }
                let files = "\(target.url) \(target.pattern?.text ?? request.documents?.text ?? "")"
                guard let other = readers[files] else {
                    readers[files] = request
                    return nil
                }
                guard other.afterCommit != request.afterCommit else { return nil }
                return ScopeConflict(
                    mistake: Mistake(
                        request.place,
                        "reads the files of \(other.place.path), too, and the two have different values of after_commit: what one "
                            + "deletes or moves, the next run of the other does not find",
                        help: "declare the same after_commit for both"),
                    isMistake: true)
            }
        }
    }

    /// Returns the writers of each table that several requests write.
    private static func sharedTables(
        of configuration: TributaryConfiguration, _ parsers: ParserRegistry
    ) -> [[Writer]] {
        var writers: [Writer] = []
        for source in configuration.enabledSources {
            for request in source.requests {
                for table in parsers.tables(of: request.content).sorted() {
                    writers.append(
                        Writer(
                            source: source.name, table: table, request: request,
                            declared: request.key(of: table, parsers: parsers)))
                }
            }
        }
        let shared = Dictionary(grouping: writers) { $0.table.lowercased() }.values.filter { $0.count > 1 }
        return shared.sorted { $0[0].table < $1[0].table }
    }

    /// The scopes that are not part of the key, beside another scope of the same table.
    private static func scopes(_ writers: [Writer], _ primaryKey: [String]) -> [ScopeConflict] {
        var index = ScopeIndex<Int>()
        var known: Set<[[String: String]]> = []
        let (fixed, all) = (writers.map { $0.fixed(primaryKey) }, writers.map(\.scope))
        for (number, writer) in writers.enumerated() where known.insert([fixed[number], all[number]]).inserted {
            index.insert(number, table: writer.table, scope: fixed[number])
        }
        return writers.enumerated().compactMap { number, writer in
            let columns = writer.scopeOutsideOfKey(primaryKey)
            guard let column = columns.first else { return nil }
            let others = index.claimants(of: writer.table, within: fixed[number]).sorted()
            guard let other = others.first(where: { all[$0] != all[number] }) else { return nil }
            let key = writer.key(primaryKey).joined(separator: ", ")
            return ScopeConflict(
                mistake: Mistake(
                    writer.request.place,
                    "its scope names the column '\(column)' of table '\(writer.table)', which is not part of the key "
                        + "(\(key)), and \(writers[other].request.place.path) writes the table, too: both would overwrite "
                        + "each other's rows with the same key",
                    help: "make '\(column)' part of the key of both"),
                isMistake: true)
        }
    }

    /// The mirrors without a scope of tables that other sources write, and do not mirror.
    private static func mirrors(_ writers: [Writer]) -> [ScopeConflict] {
        writers.filter { $0.request.mirrors($0.table) && $0.request.scope.isEmpty }.compactMap { mirror in
            let other = writers.first { $0.source != mirror.source && !$0.request.mirrors($0.table) }
            guard let other else { return nil }
            return ScopeConflict(
                mistake: Mistake(
                    mirror.request.place,
                    "mirrors all of table '\(mirror.table)', which \(other.request.place.path) writes, too: rows that only "
                        + "the other has are deleted", help: "give both a scope whose column is part of the key"),
                isMistake: false)
        }
    }

    /// A request that writes a table.
    private struct Writer {
        var source: String
        var table: String
        var request: RequestDeclaration
        /// The declared key; nil for the primary key.
        var declared: [String]?

        /// The scope, with the names of its columns in lower case.
        var scope: [String: String] {
            Dictionary(request.scope.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
        }

        private var mapping: TableMapping? {
            guard case .mapping(let mapping) = request.content else { return nil }
            return mapping.tables.first { $0.table.lowercased() == table.lowercased() }
        }

        /// Returns the key's columns; none if the whole row is the key.
        func key(_ primaryKey: [String]) -> [String] {
            if let declared { return declared }
            return mapping.map { $0.matchesNames ? primaryKey : [] } ?? primaryKey
        }

        /// Returns no columns where the key holds that of a parent, whose own key counts, or what an expression makes.
        func scopeOutsideOfKey(_ primaryKey: [String]) -> [String] {
            let key = Set(key(primaryKey).map { $0.lowercased() })
            let isIndirect = key.compactMap { mapping?.column($0) }.contains { column in
                if case .parent = column.origin { return true }
                return column.isDerived
            }
            return key.isEmpty || isIndirect
                ? [] : request.scope.keys.filter { !key.contains($0.lowercased()) }.sorted()
        }

        /// The columns of the key that have one value in all rows, with that value.
        func fixed(_ primaryKey: [String]) -> [String: String] {
            key(primaryKey).reduce(into: [:]) { fixed, name in
                if let entry = request.scope.first(where: { $0.key.lowercased() == name.lowercased() }) {
                    fixed[name] = entry.value
                } else if case .constant(let value)? = mapping?.column(name)?.origin {
                    fixed[name] = value.text
                }
            }
        }
    }
}
