package import Foundation
import FeedModel

/// The runs in progress in this process, for commands and the page.
package final class ActiveRuns: Sendable {
    /// A run in progress.
    package struct Entry: Sendable {
        package let startedAt: Date
        /// nil before the first response.
        package var progress: RunProgress?
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var followers: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextFollower = 0
    }

    private let state = Mutex(State())

    /// The runs in progress, by source.
    package var entries: [String: Entry] { state.withLock(\.entries) }

    package subscript(source source: String) -> Entry? { state.withLock { $0.entries[source] } }

    func began(_ source: String, at now: Date) {
        change { $0[source] = Entry(startedAt: now) }
    }

    func note(_ progress: RunProgress) {
        change { $0[progress.source]?.progress = progress }
    }

    func ended(_ source: String) {
        change { $0[source] = nil }
    }

    /// Returns a stream with an element after each change. Unread changes count as one.
    package func changes() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            defer { state.nextFollower += 1 }
            state.followers[state.nextFollower] = continuation
            return state.nextFollower
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { state in _ = state.followers.removeValue(forKey: number) }
        }
        return stream
    }

    private func change(_ body: (inout [String: Entry]) -> Void) {
        let followers = state.withLock { state in
            body(&state.entries)
            return Array(state.followers.values)
        }
        for follower in followers { follower.yield() }
    }
}

/// The progress of a run, reported from time to time while it downloads.
public struct RunProgress: Sendable {
    public var source: String
    public var request: String
    /// The request's position in the stack, counted from 1.
    public var requestNumber: Int
    public var requestCount: Int
    /// Bytes received, before decompression.
    public var bytes: Int
    /// The size that the server announced; nil without one.
    public var totalBytes: Int?
    /// Rows staged by the request.
    public var rows: Int
}
