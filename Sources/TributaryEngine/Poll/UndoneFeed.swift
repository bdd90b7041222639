import FeedDeclarations
import FeedModel
import Foundation

/// What was known of a source's feed when its rows were brought back to a former state. Until the feed differs from that,
/// its rows stay as they are.
struct UndoneFeed: Codable, Sendable {
    struct Version: Codable, Sendable {
        var etag: String?
        var lastModified: String?
        var digest: String?
    }

    /// The run to which the rows were brought back.
    var run: Int64
    /// The source's first run, where none of its own is before the point to which the rows were brought back.
    var firstUndone: Int64?
    /// The requests' versions, by key.
    var versions: [String: Version]

    init(run: Int64, _ states: [String: RequestState]) {
        self.run = run
        versions = states.mapValues { state in
            Version(etag: state.validators.etag, lastModified: state.validators.lastModified, digest: state.digest)
        }
    }

    init?(_ text: String?) {
        guard let text, let feed = try? JSONDecoder().decode(UndoneFeed.self, from: Data(text.utf8)) else { return nil }
        self = feed
    }

    var text: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }

    /// Returns true if it can be seen from the answers whether the feed is still the same.
    func covers(_ source: SourceDeclaration) -> Bool {
        source.requests.allSatisfy { request in
            guard request.forEach == nil, !request.isUnconditional, request.content != .captures,
                let version = versions[request.key]
            else { return false }
            return version.etag != nil || version.lastModified != nil || version.digest != nil
        }
    }

    /// Returns a request's state as it was.
    func state(of key: String, _ known: RequestState?, fingerprint: String) -> RequestState? {
        guard let version = versions[key] else { return nil }
        var state = known ?? RequestState(key: key, validators: Validators(), fingerprint: fingerprint, sync: .upsert)
        state.validators = Validators(etag: version.etag, lastModified: version.lastModified)
        state.digest = version.digest
        return state
    }

    /// The point to which the rows were brought back, for people.
    var point: String { firstUndone.map { "before run \($0)" } ?? "run \(run)" }

    /// What the source's status says.
    func note(_ source: String) -> String {
        "undone to \(point): the feed is committed again once it differs from the undone one, or after "
            + "`tributary resume \(source)`"
    }

    /// What the status says of a source whose feed cannot be compared without taking it.
    func strictNote(_ source: String) -> String {
        "undone to \(point): nothing is sent until `tributary resume \(source)`"
    }
}
