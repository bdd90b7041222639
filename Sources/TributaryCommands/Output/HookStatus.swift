import FeedDeclarations
import FeedModel
import FeedStores
import Foundation

/// How a hook stands: how far it has come, and what it waits for.
struct HookStatus: Encodable {
    /// The runs that are counted at most.
    private static let mostCounted = 10_000

    let hook: HookDeclaration
    /// nil until a daemon has run with the hook.
    let state: HookState?
    /// The runs after its place, of which it may have to be told.
    let behind: Int

    private enum Key: String, CodingKey {
        case hook, on, sources, state, run, behind, delivered_at, attempts, next_attempt, error
    }

    init(_ hook: HookDeclaration, _ state: HookState?, in store: (any MainStore)?) throws {
        self.hook = hook
        self.state = state
        behind = try state.flatMap { try store?.countRuns(after: $0.position, limit: Self.mostCounted) } ?? 0
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(hook.name, forKey: .hook)
        try container.encode(hook.events.map(\.rawValue).sorted(), forKey: .on)
        try container.encode(hook.sources, forKey: .sources)
        try container.encode(word, forKey: .state)
        try container.encode(state?.position.run, forKey: .run)
        try container.encode(behind, forKey: .behind)
        try container.encode(state?.deliveredAt, forKey: .delivered_at)
        try container.encode(state?.attempts ?? 0, forKey: .attempts)
        try container.encode(state?.nextAttempt, forKey: .next_attempt)
        try container.encode(state?.error, forKey: .error)
    }

    private var isGone: Bool { state?.gone == hook.fingerprint }

    private var word: String {
        guard let state else { return "new" }
        if isGone { return "gone" }
        if state.attempts > 0 { return "retrying" }
        return state.step > 0 ? "delivering" : "waiting"
    }

    static let headings: [(title: String, alignment: TextTable.Alignment)] = [
        ("HOOK", .left), ("COME TO", .left), ("BEHIND", .right), ("LAST TOLD", .left), ("WAITS FOR", .left),
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
        guard let state else { return .init("a daemon that runs with it", .yellow) }
        if isGone { return .init("another address: its receiver is gone (410)", .red) }
        guard state.attempts > 0 else { return .init("what happens next") }
        let next = RelativeTime.text(max(state.nextAttempt ?? now, now), now: now)
        let times = state.attempts == 1 ? "once" : "\(state.attempts) times"
        return .init("its receiver: tried \(times), again \(next)", .yellow)
    }
}
