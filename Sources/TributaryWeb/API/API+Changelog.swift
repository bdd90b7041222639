import FeedModel
import FeedStores
import Foundation
import HTTPTypes
import Hummingbird
import TributaryEngine

/// The changelog behind a place, and the runs as they are recorded, for programs that miss nothing.
extension API {
    /// The lines of `tail --json` behind a row.
    func changelog(after text: String, sources: [String], limit: Int) async throws -> Response {
        guard let after = Int64(text), after >= 0 else {
            throw Query.Problem("'after' must be the id of a changelog row: use 'after' of a line, or 0 for all rows")
        }
        let lines = ChangelogLines(
            reader: ChangelogReader(store.store, sources: Set(sources), after: after), left: limit, store: store)
        return try await .pieces(of: lines, FileFormat.ndjson.contentType)
    }

    /// The runs as they are recorded, as server-sent events.
    func events(_ request: Request, _ query: Query, _ context: PageContext) async throws -> Response {
        let names = try sources(query)
        let text = request.headers[.lastEventID] ?? query["after"]
        let start: RunPosition
        if let text {
            guard let position = RunPosition(text) else {
                throw Query.Problem("'after' must be the id of an event that was received")
            }
            start = position
        } else {
            start = try await store.read { try $0.read { try $0.changelog.lastPosition() } }
        }
        guard let place = followers.place() else {
            return .refusal(
                of: request, .serviceUnavailable, "Too many clients follow the events; try again later.",
                [.retryAfter: "60"])
        }
        let events = RunEvents(store: store, sources: Set(names), position: start)
        return EventStream(
            source: events, activeRuns: service.activeRuns, place: place, isAllowed: context.isAllowed
        ).response
    }
}

/// Lines of the changelog in pieces.
private struct ChangelogLines: PiecedText {
    var reader: ChangelogReader
    /// The rows that may still be written.
    var left: Int
    let store: StoreQueue

    mutating func next() async throws -> String? {
        guard left > 0 else { return nil }
        let (read, lines) = try await store.read { [reader] store in
            var reader = reader
            do {
                let lines = try reader.nextUnlessHeldUp() ?? [TailLine(.heldUp)]
                return (reader, lines)
            } catch let ahead as ChangelogReader.Ahead {
                throw Query.Problem("'after' is \(ahead)")
            }
        }
        reader = read
        var text = ""
        for line in lines {
            if case .change = line.content {
                guard left > 0 else { break }
                left -= 1
            }
            if case .heldUp = line.content { left = 0 }
            text += try JSONOutput.line(line) + "\n"
        }
        return text.isEmpty ? nil : text
    }
}
