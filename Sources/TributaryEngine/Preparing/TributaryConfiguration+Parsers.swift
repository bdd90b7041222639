import FeedConfiguration
public import FeedDeclarations
public import FeedParsing
public import Foundation

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
