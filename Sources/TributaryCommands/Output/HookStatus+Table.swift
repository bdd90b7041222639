import FeedDeclarations
import FeedModel
import Foundation
import TributaryEngine

/// The line of a hook in the table of `status`.
extension HookStatus {
    static let headings: [(title: String, alignment: TextTable.Alignment)] = [
        ("HOOK", .left), ("POSITION", .left), ("BEHIND", .right), ("DELIVERED", .left), ("WAITING FOR", .left),
    ]

    func cells(now: Date) -> [TextTable.Cell] {
        let behindText = behind >= Self.mostCounted ? "\(Self.mostCounted) or more runs" : "\(behind) runs"
        return [
            .init(hook.name), .init(state.map { "run \($0.position.run)" } ?? "-"),
            .init(behind == 1 ? "1 run" : behindText),
            .init(state?.deliveredAt.map { RelativeTime.text($0, now: now) } ?? "-"), waitsFor(now: now),
        ]
    }

    private func waitsFor(now: Date) -> TextTable.Cell {
        guard let state else { return .init("a daemon", .yellow) }
        if isGone { return .init("another address: the receiver answered 410 Gone", .red) }
        guard state.attempts > 0 else { return .init(behind > 0 ? "delivery" : "the next event") }
        let next = RelativeTime.text(max(state.nextAttempt ?? now, now), now: now)
        let times = state.attempts == 1 ? "once" : "\(state.attempts) times"
        return .init("a retry \(next): failed \(times)", .yellow)
    }
}
