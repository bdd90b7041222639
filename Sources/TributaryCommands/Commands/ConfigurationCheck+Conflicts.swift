import FeedConfiguration
import FeedModel
import FeedParsing
import FeedStaging
import FeedStores
import Foundation
import TributaryEngine

/// What requests may do to each other's rows, and tables whose names a store cannot have.
extension ConfigurationCheck {
    /// Returns messages about requests of which each would delete the other's rows.
    static func conflicts(
        _ program: Program, _ configuration: TributaryConfiguration,
        comparison: (_ table: String, _ scopes: [[String: String]]) throws -> TableComparison
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

    /// Returns messages about addresses of folders that do not say which of their files are meant.
    static func folders(_ configuration: TributaryConfiguration) -> [String] {
        configuration.sources.flatMap { source in
            source.requests.enumerated().compactMap { index, request in
                guard request.documents == nil, !request.url.isDynamic, FileAddress.isFile(request.url.value),
                    let address = try? FileAddress(request.url.value), address.pattern == nil
                else { return nil }
                var isFolder: ObjCBool = false
                guard FileManager.default.fileExists(atPath: address.path, isDirectory: &isFolder), isFolder.boolValue
                else { return nil }
                return
                    "\(configuration.file): sources.\(source.name).requests[\(index + 1)].url: '\(request.url)' is a "
                    + "folder; for the files in it, declare documents = \"**/*.xml\""
            }
        }
    }

    /// Returns the key of a request.
    static func place(of request: RequestDeclaration, in source: SourceDeclaration) -> String {
        "sources.\(source.name).requests[\((source.requests.firstIndex { $0.key == request.key } ?? 0) + 1)]"
    }

    /// Returns the message on a request's `for_each` or `expect`, with its key.
    static func message(
        _ error: StoreError, of request: RequestDeclaration, in source: SourceDeclaration, file: String
    ) -> String {
        let place = "\(file): \(Self.place(of: request, in: source))"
        if let found = error.message.prefixMatch(of: #/(expect\[\d+\]\.sql) /#) {
            return "\(place).\(found.1): \(error.message[found.range.upperBound...])"
        }
        return "\(place).for_each: \(error.message.trimmingPrefix("for_each: "))"
    }

    static func dotted(_ schema: TableSchema) -> String {
        "\(schema.place): table = \"\(schema.name)\" names a schema, and a store in a file has none; write "
            + "\"\(schema.name.replacing(".", with: "_"))\""
    }
}
