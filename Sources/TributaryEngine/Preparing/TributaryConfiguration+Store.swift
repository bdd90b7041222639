public import FeedConfiguration
package import FeedModel
public import FeedParsing
package import FeedStores
public import Foundation
package import Logging

extension TributaryConfiguration {
    /// Runs the SQL that relies on the mappings' tables, if there is any, and creates those tables first.
    ///
    /// - Returns: what was made and the SQL does not use, by the names of the sources. A first run that commits nothing
    ///   removes it.
    /// - Throws: ``ConfigurationError`` if the SQL cannot be read or run. A table that cannot be created is left to the
    ///   runs of its source, which report the reason.
    package func finishSchema(
        of store: any MainStore, parsers: ParserRegistry, logger: Logger
    ) throws -> [String: [SchemaAddition]] {
        guard let sql = try schemaAfter() else { return [:] }
        var made: [String: [SchemaAddition]] = [:]
        for source in sources {
            for request in source.requests {
                do {
                    try request.prepare(store, parsers: parsers) { made[source.name, default: []] += $0 }
                } catch let error as StoreError {
                    logger.warning(
                        "The tables of a request cannot be created",
                        metadata: [
                            "source": "\(source.name)", "request": "\(request.key)", "error": "\(error.message)",
                        ])
                }
            }
        }
        try runSchemaAfter(sql, in: store)
        guard !made.isEmpty else { return [:] }
        let used = tablesUsed(by: sql, among: made.values.joined().map(\.table), parsers)
        return made.mapValues { $0.filter { !used.contains($0.table.lowercased()) } }
    }

    /// Returns the tables that SQL may use, in lower case: those that it names, all if it uses a list of all, and those to
    /// which these refer.
    ///
    /// - Parameter made: tables that were made or got columns, whether or not a mapping declares them.
    private func tablesUsed(by sql: String, among made: [String], _ parsers: ParserRegistry) -> Set<String> {
        let definitions = sources.flatMap(\.requests).flatMap { request in
            if case .parser(let name) = request.content { return parsers[name]?.tableSchemas ?? [] }
            return request.schemas
        }
        let tables = Set((definitions.map(\.name) + made).map { $0.lowercased() })
        let text = sql.lowercased().replacing("\"\"", with: "\"").split(whereSeparator: \.isWhitespace)
            .joined(separator: " ")
        guard !Self.listsOfTables.contains(where: { text.contains($0) }) else { return tables }
        let references = Dictionary(grouping: definitions) { $0.name.lowercased() }.mapValues { definitions in
            definitions.flatMap(\.columns).compactMap { $0.references?.lowercased() }
        }
        var used: Set<String> = []
        var open = tables.filter { Self.names($0, in: text) }
        while let table = open.popFirst() {
            guard used.insert(table).inserted else { continue }
            open.formUnion(references[table] ?? [])
        }
        return used
    }

    /// What SQL says that concerns every table: `GRANT … ON ALL TABLES`, or a query of the list of tables.
    private static let listsOfTables = [
        "all tables", "pg_class", "pg_tables", "information_schema", "sqlite_schema", "sqlite_master",
    ]

    /// Returns true if a text has a table's name as a whole word, with or without its schema.
    private static func names(_ name: String, in text: String) -> Bool {
        func isWord(_ character: Character?) -> Bool {
            character.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false
        }
        let words = (name.split(separator: ".").last ?? "").split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return text.ranges(of: words).contains { range in
            !isWord(text[..<range.lowerBound].last) && !isWord(text[range.upperBound...].first)
        }
    }

    /// - Parameter isForced: true to run it again.
    /// - Throws: ``ConfigurationError`` naming the file.
    package func runSchemaAfter(_ sql: String, in store: any MainStore, isForced: Bool = false) throws {
        do {
            try isForced ? store.execute(schema: sql) : store.apply(schemaAfter: sql)
        } catch {
            let message = "\(error)"
            let mistake = Mistake(
                place("store", "schema_after"), "\(schemaAfterPath ?? ""): \(message)", help: Self.advice(on: message))
            throw ConfigurationError(problems: located([mistake]))
        }
    }

    /// Returns what to do about SQL that fails when it runs again.
    private static func advice(on message: String) -> String? {
        guard let found = message.prefixMatch(of: /view (.+?) already exists/) else { return nil }
        return "write DROP VIEW IF EXISTS \(found.1) before it, because the file runs more than once"
    }
}

extension TributaryConfiguration {
    /// Reads a file.
    ///
    /// - Parameters:
    ///   - parsers: the registered parsers, any of which a request may name.
    ///   - environment: the values that replace `${NAME}`.
    /// - Throws: ``ConfigurationError`` with every mistake in the file.
    public init(
        file: String, parsers: ParserRegistry, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        try self.init(file: file, parsers: parsers as any BodyParsing, environment: environment)
    }
}
