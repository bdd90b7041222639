import DequeModule

/// Due sources that wait for a slot for their run, and for a place at the first host that they ask.
///
/// Hosts take turns, and a host without a free place delays only its own sources. A source is looked at when it is
/// added and when its host has a free place again, never just because others wait.
///
/// Sources that were answered without delay come before those of which nothing is known, but for every fourth start. Those
/// that were slow share places of their own, so that however many there are, no other source waits for them. At one host they
/// take turns with the others.
struct StartQueue {
    /// How a source's last run went.
    enum Lane: Sendable, CaseIterable {
        /// Its servers answered without delay.
        case prompt
        /// Nothing is known.
        case new
        /// A server sent next to nothing for seconds.
        case slow
    }

    private struct Turn: Hashable {
        var lane: Lane
        /// nil if it is not known.
        var origin: String?
    }

    /// The names of waiting sources, by the first origin that they ask.
    private var waiting: [Turn: Deque<String>] = [:]
    /// Origins that may have a free place, in turn.
    private var turns: [Lane: Deque<Turn>] = [:]
    private var inTurn: Set<Turn> = []
    /// The starts of prompt sources in a row.
    private var promptStarts = 0
    private static let mostPromptStarts = 3
    /// The origins whose last start was one of a slow source, while others wait there: theirs is the next.
    private var owed: Set<String?> = []
    /// Sources during whose last run a process died. They run one at a time, to show which of them is the cause.
    private var suspects: Deque<(name: String, origin: String?)> = []
    private var runningSuspect: String?
    private var queued: Set<String> = []

    var isEmpty: Bool { queued.isEmpty }

    /// Adds a source, unless it is already waiting.
    mutating func add(_ name: String, origin: String?, lane: Lane = .new, isSuspect: Bool) {
        guard queued.insert(name).inserted else { return }
        if isSuspect {
            suspects.append((name, origin))
        } else {
            let turn = Turn(lane: lane, origin: origin)
            if waiting[turn] == nil { take(turn) }
            waiting[turn, default: []].append(name)
        }
    }

    /// Returns how many sources wait for this origin.
    func waiting(at origin: String) -> Int {
        Lane.allCases.reduce(0) { $0 + (waiting[Turn(lane: $1, origin: origin)]?.count ?? 0) }
    }

    /// Notes that this origin has a free place again.
    mutating func free(_ origin: String) {
        for lane in Lane.allCases {
            let turn = Turn(lane: lane, origin: origin)
            if waiting[turn] != nil { take(turn) }
        }
    }

    private mutating func take(_ turn: Turn) {
        if inTurn.insert(turn).inserted { turns[turn.lane, default: []].append(turn) }
    }

    private mutating func end(_ turn: Turn) {
        inTurn.remove(turn)
        turns[turn.lane]?.removeFirst()
    }

    mutating func finished(_ name: String) {
        if runningSuspect == name { runningSuspect = nil }
    }

    /// Returns the next source that may run, with its permit; nil if none may run now.
    mutating func next(
        _ admit: (_ origin: String?, _ lane: Lane) -> RunPermit.Admission
    ) -> (name: String, permit: RunPermit)? {
        if runningSuspect == nil, let suspect = suspects.first {
            switch admit(suspect.origin, .new) {
            case .admitted(let permit):
                suspects.removeFirst()
                queued.remove(suspect.name)
                runningSuspect = suspect.name
                return (suspect.name, permit)
            case .hostIsFull, .noSlot: break
            }
        }
        let lanes: [Lane] = promptStarts < Self.mostPromptStarts ? [.prompt, .new] : [.new, .prompt]
        for lane in [.slow] + lanes {
            guard let start = next(in: lane, admit) else { continue }
            if lane != .slow { promptStarts = lane == .prompt ? promptStarts + 1 : 0 }
            return start
        }
        return nil
    }

    private func othersWait(at origin: String?) -> Bool {
        [Lane.prompt, .new].contains { waiting[Turn(lane: $0, origin: origin)] != nil }
    }

    private mutating func next(
        in lane: Lane, _ admit: (_ origin: String?, _ lane: Lane) -> RunPermit.Admission
    ) -> (name: String, permit: RunPermit)? {
        var passed: Deque<Turn> = []
        defer { if !passed.isEmpty { turns[lane] = passed + (turns[lane] ?? []) } }
        while let turn = turns[lane]?.first {
            if lane == .slow, owed.contains(turn.origin), othersWait(at: turn.origin) {
                turns[lane]?.removeFirst()
                passed.append(turn)
                continue
            }
            switch admit(turn.origin, lane) {
            case .admitted(let permit):
                end(turn)
                if lane == .slow, othersWait(at: turn.origin) {
                    owed.insert(turn.origin)
                } else {
                    owed.remove(turn.origin)
                }
                guard let name = waiting[turn]?.popFirst() else { continue }
                if waiting[turn]?.isEmpty ?? true { waiting[turn] = nil } else { take(turn) }
                queued.remove(name)
                return (name, permit)
            case .hostIsFull: end(turn)
            case .noSlot: return nil
            }
        }
        return nil
    }
}
