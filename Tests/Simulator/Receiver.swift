import AsyncHTTPClient
import Foundation
import NIOCore

/// The receiver of a hook. It knows what it was told, and that all of it came in order, with only the last event again.
final class Receiver {
    struct Event: Decodable {
        var id: String
        var type: String
        var source: String?
        var run: Int64?

        init(_ message: HTTPClientRequest) async throws {
            var bytes = ByteBuffer()
            if let body = message.body {
                for try await piece in body { bytes.writeImmutableBuffer(piece) }
            }
            self = try JSONDecoder().decode(Event.self, from: Data(bytes.readableBytesView))
        }
    }

    private var seen: Set<String> = []
    private var last: String?
    /// True where whoever tells has been answered that the last event was taken.
    private var isTaken = true
    /// The runs whose changes were told, in that order.
    private(set) var changed: [Int64] = []
    private let fail: (String) -> Void

    init(fail: @escaping (String) -> Void) { self.fail = fail }

    /// - Parameter isLate: true for a sender that was delayed, so that another may have sent this event and later ones.
    func receive(_ event: Event, isLate: Bool) {
        guard event.id != last, !isLate || !seen.contains(event.id) else { return }
        if let last, !isTaken { fail("the hook is told \(event.id) before it has taken \(last)") }
        if !seen.insert(event.id).inserted { fail("the hook is told \(event.id) again, after \(last ?? "-")") }
        last = event.id
        isTaken = false
        guard event.type == "changed", let run = event.run else { return }
        if let former = changed.last, former > run { fail("the hook is told of run \(run) after run \(former)") }
        changed.append(run)
    }

    /// Notes that whoever tells knows that an event was taken.
    func take(_ event: Event) { if event.id == last { isTaken = true } }
}
