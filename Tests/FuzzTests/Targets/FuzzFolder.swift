import FeedModel
import Foundation
import TributaryEngine
import TributaryParsers
@testable import FeedConfiguration
@testable import FeedParsing

/// A folder for one target, removed with it.
final class FuzzFolder {
    static let registry = ParserRegistry([
        .class(SyndicationParser.self), .class(SitemapParser.self), .class(EurofxrefParser.self),
    ])

    /// An answer without headers.
    static func response(at url: String) -> FeedResponse {
        FeedResponse(
            requestedURL: url, url: url, status: 200, headers: [], fetchedAt: .distantPast, validators: Validators())
    }

    let path: String
    private var file: String { path + "/sources.toml" }

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("tributary-fuzz-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// What a `sources.toml` declares.
    ///
    /// - Throws: what `TributaryConfiguration` throws.
    func configuration(
        _ text: some Sequence<UInt8>, environment: [String: String] = [:]
    ) throws -> TributaryConfiguration {
        try Data(text).write(to: URL(fileURLWithPath: file))
        return try TributaryConfiguration(file: file, parsers: Self.registry, environment: environment)
    }
}
