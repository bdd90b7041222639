package import FeedConfiguration
package import FeedModel
import Foundation

/// The versions of a source's feed at the time of an undo. The rows stay until the feed differs from these.
struct UndoneFeed: Codable, Sendable {
    struct Version: Codable, Sendable {
        var etag: String?
        var lastModified: String?
        var digest: String?
    }

    /// The run whose rows were restored.
    var run: Int64
    /// The source's first run, if the rows before it were restored.
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

    /// Returns true if the answers show whether the feed is still the same.
    func covers(_ source: SourceDeclaration) -> Bool {
        source.requests.allSatisfy { request in
            guard request.forEach == nil, !request.isUnconditional, request.content != .captures,
                let version = versions[request.key]
            else { return false }
            return version.etag != nil || version.lastModified != nil || version.digest != nil
        }
    }

    /// Returns a request's state at the time of the undo.
    func state(of key: String, _ known: RequestState?, fingerprint: String) -> RequestState? {
        guard let version = versions[key] else { return nil }
        var state = known ?? RequestState(key: key, validators: Validators(), fingerprint: fingerprint, sync: .upsert)
        state.validators = Validators(etag: version.etag, lastModified: version.lastModified)
        state.digest = version.digest
        return state
    }

    /// Returns true if a response has the version of a request at the time of the undo: by its bytes where their digest is
    /// known, else by its validators.
    func isVersion(_ state: RequestState?, of key: String) -> Bool {
        guard let state, let version = versions[key] else { return false }
        if let digest = version.digest { return state.digest == digest }
        let validators = Validators(etag: version.etag, lastModified: version.lastModified)
        return !validators.isEmpty && state.validators == validators
    }

    /// Notes other validators of an equal body, so that the server answers the next request with 304.
    mutating func note(_ validators: Validators, of key: String) {
        versions[key]?.etag = validators.etag
        versions[key]?.lastModified = validators.lastModified
    }

    /// The restored run, as text.
    var point: String { firstUndone.map { "before run \($0)" } ?? "run \(run)" }

    /// Returns the note in the source's status.
    func note(_ source: String) -> String {
        "undone to \(point): the feed is committed again once it differs from the undone one, or after "
            + "`tributary resume \(source)`"
    }

    /// Returns the note on a run whose feed is still the undone one.
    func noteOnRun(_ source: String) -> String {
        "the feed is still the undone one, and is held back; `tributary resume \(source)` commits it"
    }

    /// Returns the note for a source that is held back.
    func strictNote(_ source: String) -> String {
        "undone to \(point): nothing is sent until `tributary resume \(source)`"
    }
}

extension SourceDeclaration {
    /// Returns true if nothing is sent until the source is resumed, because it was undone and its feed can only be compared
    /// by committing it.
    func isHeldBack(in state: SourceState) -> Bool { UndoneFeed(state.undone).map { !$0.covers(self) } ?? false }

    /// Returns true if nothing is sent until the source is resumed.
    package func waitsForResume(in state: SourceState) -> Bool { state.isStopped || isHeldBack(in: state) }
}
