@testable import FeedConfiguration
import Foundation
@testable import FeedFetching
@testable import TributaryEngine

/// Texts as a `sources.toml`: a configuration, or every mistake with its line.
final class ConfigurationTarget: FuzzTarget {
    private let folder: FuzzFolder

    init() throws { folder = try FuzzFolder() }

    func run(_ input: [UInt8]) throws -> Bool {
        let error = try refusal {
            let configuration = try folder.configuration(input, environment: ["TOKEN": "s3cret-token"])
            guard configuration.concurrency > 0, configuration.perHost > 0 else {
                throw FuzzFinding("runs or requests at a time: \(configuration.concurrency), \(configuration.perHost)")
            }
            for source in configuration.sources {
                for request in source.requests {
                    _ = request.validity(parserVersion: 1)
                    _ = try accepts { _ = try request.prepare() }
                    _ = try accepts {
                        guard let paging = request.paging else { return }
                        _ = paging.firstPage(of: request)
                        var pages = PageSequence(paging)
                        _ = try pages.next(
                            after: request, FuzzFolder.response(at: "http://a.test/"), records: 1, found: "?page=2")
                    }
                }
            }
        }
        guard let error else {
            if input.contains(0) { throw FuzzFinding("a file with a NUL byte, which TOML forbids, is taken") }
            return true
        }
        guard let error = error as? ConfigurationError, !error.problems.isEmpty else {
            throw FuzzFinding("the file is refused with \(error)")
        }
        if error.description.utf8.contains(0) { throw FuzzFinding("the mark of a reference in the error: \(error)") }
        return false
    }
}
