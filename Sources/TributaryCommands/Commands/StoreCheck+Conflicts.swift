import FeedConfiguration
import FeedModel
import FeedParsing
import FeedStaging
import FeedStores
import Foundation
import TributaryEngine

/// What requests may do to each other's rows, and tables whose names a store cannot have.
extension StoreCheck {
    /// Returns the conflicts of requests that may take rows of one another.
    ///
    /// - Parameter stores: where the tables are; the first that has one counts.
    func scopeConflicts(
        _ stores: [any MainStore]
    ) throws -> Findings {
        var keys: [String: [String]] = [:]
        for table in try stores.flatMap({ try $0.tables() }) where keys[table.name.lowercased()] == nil {
            keys[table.name.lowercased()] = table.primaryKey
        }
        let found = ScopeConflict.all(in: configuration, parsers: program.parsers) { keys[$0.lowercased()] ?? [] }
        return (found.filter(\.isMistake).map(\.mistake), found.filter { !$0.isMistake }.map(\.mistake))
    }

    /// Returns the mistakes of addresses of folders that do not say which of their files are meant.
    func folders() -> [Mistake] {
        configuration.sources.flatMap(\.requests).compactMap { request in
            guard request.documents == nil, !request.url.isDynamic,
                let target = try? RequestAddress(request.url.value), case .file = target, target.namesFolder
            else { return nil }
            return Mistake(
                request.place.appending("url"), "'\(request.url)' is a folder",
                help: "for the files in it, declare documents = \"**/*.xml\"")
        }
    }

    func dotted(_ schema: TableSchema) -> Mistake {
        Mistake(
            schema.place, "table = \"\(schema.name)\" names a schema, and a store in a file has none",
            help: "write \"\(schema.name.replacing(".", with: "_"))\"")
    }
}
