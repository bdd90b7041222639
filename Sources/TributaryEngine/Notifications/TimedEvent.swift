import FeedConfiguration
import FeedModel
import Foundation

/// An event that depends on the time and not on a run: a source has failed for long enough, or is stale.
///
/// The store keeps it until it is delivered, because it may not be due by another daemon's clock, or no longer.
struct TimedEvent: Codable {
    let kind: HookEventKind
    let source: String
    /// The start of the failure or staleness.
    let since: Date
    let due: Date
    var error: String?
    var failingSince: Date?
    var lastGood: Date?

    /// A source that has failed since a time.
    init(failing source: String, since: Date, _ hook: HookDeclaration) {
        kind = .failing
        self.source = source
        self.since = since
        due = since + hook.after.seconds
        failingSince = since
    }

    /// - Returns: nil for a source without a successful or failed run.
    init?(stale state: SourceState, after seconds: Double) {
        guard let since = state.freshFrom else { return nil }
        kind = .stale
        source = state.source
        self.since = since
        due = since + seconds
        error = state.error
        failingSince = state.failingSince
        lastGood = state.lastGood
    }

    /// - Returns: nil for a text that ``text`` does not give.
    init?(_ text: String) {
        guard let event = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else { return nil }
        self = event
    }

    /// The event as JSON, for a column.
    var text: String {
        get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
    }

    /// Returns true if the event is in a hook's memory.
    func isKnown(to memory: HookMemory?) -> Bool {
        (kind == .stale ? memory?.isStale : memory?.isFailing) ?? false
    }

    /// Returns a hook's memory after the event.
    func noted(in memory: HookMemory?) -> HookMemory {
        var known = memory ?? HookMemory()
        if kind == .stale { known.isStale = true } else { known.isFailing = true }
        return known
    }

    func event(for hook: HookDeclaration) -> HookEvent {
        let began = Int(since.timeIntervalSince1970 * 1000)
        var event = HookEvent(
            id: HookDecision.id(kind, hook: hook.name, source: source, occasion: "\(began)"), kind: kind,
            hook: hook.name, source: source, time: due)
        event.error = error
        event.failingSince = failingSince
        event.lastGood = lastGood
        return event
    }
}
