import FeedConfiguration
import FeedDeclarations
import FeedModel
import FeedParsing
import FeedStaging
import FeedStores
import TributaryEngine

/// What requests may do to each other's rows, and tables whose names a store cannot have.
extension ConfigurationCheck {
    /// Returns messages about requests of which each would delete the other's rows.
    static func conflicts(
        _ program: Program, _ configuration: TributaryConfiguration,
        comparison: (_ table: String, _ columns: Set<String>) throws -> TableComparison
    ) throws -> [String] {
        try MirrorConflict.all(in: configuration, parsers: program.parsers, comparison: comparison).map {
            $0.description(file: configuration.file)
        }
    }

    /// Returns messages about requests that may take rows of one another.
    ///
    /// - Parameter stores: where the tables are; the first that has one counts.
    static func scopeConflicts(
        _ stores: [any MainStore], _ program: Program, _ configuration: TributaryConfiguration
    ) throws -> (mistakes: [String], notes: [String]) {
        var keys: [String: [String]] = [:]
        for table in try stores.flatMap({ try $0.tables() }) where keys[table.name.lowercased()] == nil {
            keys[table.name.lowercased()] = table.primaryKey
        }
        let found = ScopeConflict.all(in: configuration, parsers: program.parsers) { keys[$0.lowercased()] ?? [] }
        return (found.filter(\.isMistake).map(\.description), found.filter { !$0.isMistake }.map(\.description))
    }

    static func dotted(_ schema: TableSchema) -> String {
        "\(schema.place): table = \"\(schema.name)\" names a schema, and a store in a file has none; write "
            + "\"\(schema.name.replacing(".", with: "_"))\""
    }
}
