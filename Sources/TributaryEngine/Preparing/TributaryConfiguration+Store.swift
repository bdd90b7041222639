import FeedConfiguration
public import FeedDeclarations
import FeedModel
public import FeedParsing
package import FeedStores
public import Foundation
package import Logging

extension TributaryConfiguration {
    /// Runs the SQL that relies on the mappings' tables, if there is any, and creates those tables first.
    ///
    /// - Throws: ``ConfigurationError`` if the SQL cannot be read or run. A table that cannot be created is left to the
    ///   runs of its source, which report the reason.
    package func finishSchema(of store: any MainStore, parsers: ParserRegistry, logger: Logger) throws {
        guard let sql = try schemaAfter() else { return }
        for source in sources {
            for request in source.requests {
                do {
                    try request.prepare(store, file: file, parsers: parsers)
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
    }

    /// - Parameter isForced: true to run it again.
    /// - Throws: ``ConfigurationError`` naming the file.
    package func runSchemaAfter(_ sql: String, in store: any MainStore, isForced: Bool = false) throws {
        do {
            try isForced ? store.execute(schema: sql) : store.apply(schemaAfter: sql)
        } catch {
            let message = "\(error)"
            throw ConfigurationError(
                problems: located([
                    "\(file): store.schema_after: \(schemaAfterPath ?? ""): \(message)\(Self.advice(on: message))"
                ]))
        }
    }

    /// Returns what to do about SQL that fails when it runs again.
    private static func advice(on message: String) -> String {
        guard let found = message.prefixMatch(of: /view (.+?) already exists/) else { return "" }
        return "; write DROP VIEW IF EXISTS \(found.1) before it, because the file runs more than once"
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
