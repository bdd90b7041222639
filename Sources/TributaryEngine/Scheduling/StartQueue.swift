import DequeModule

/// Sources that are due, until there are a slot for their run and a place at the host that they ask first.
///
/// Hosts take turns, and a host without a free place holds up nobody but its own sources. A source is looked at when it comes,
/// and when its host has a place again; never only because others wait.
struct StartQueue {
    /// The names of waiting sources, by the origin that they ask first; nil where that is not known yet.
    private var waiting: [String?: Deque<String>] = [:]
    /// Origins that may have a free place, in turn.
    private var turns: Deque<String?> = []
    private var inTurn: Set<String?> = []
    /// Sources during whose last run a process died: they run one at a time, so that it shows which of them is the cause.
    private var suspects: Deque<(name: String, origin: String?)> = []
    private var runningSuspect: String?
    private var queued: Set<String> = []

    var isEmpty: Bool { queued.isEmpty }

    /// Adds a source, unless it waits already.
    mutating func add(_ name: String, origin: String?, isSuspect: Bool) {
        guard queued.insert(name).inserted else { return }
        if isSuspect {
            suspects.append((name, origin))
        } else {
            if waiting[origin] == nil { takeTurn(origin) }
            waiting[origin, default: []].append(name)
        }
    }

    /// There is a place at this origin again.
    mutating func free(_ origin: String) {
        if waiting[origin] != nil { takeTurn(origin) }
    }

    private mutating func takeTurn(_ origin: String?) {
        if inTurn.insert(origin).inserted { turns.append(origin) }
    }

    private mutating func endTurn() { inTurn.remove(turns.removeFirst()) }

    mutating func finished(_ name: String) {
        if runningSuspect == name { runningSuspect = nil }
    }

    /// The next source that may run, with what lets it; nil where none may now.
    mutating func next(_ admit: (_ origin: String?) -> RunPermit.Admission) -> (name: String, permit: RunPermit)? {
        if runningSuspect == nil, let suspect = suspects.first {
            switch admit(suspect.origin) {
            case .admitted(let permit):
                suspects.removeFirst()
                queued.remove(suspect.name)
                runningSuspect = suspect.name
                return (suspect.name, permit)
            case .hostIsFull: break
            case .noSlot: return nil
            }
        }
        while let origin = turns.first {
            switch admit(origin) {
            case .admitted(let permit):
                endTurn()
                guard let name = waiting[origin]?.popFirst() else { continue }
                if waiting[origin]?.isEmpty ?? true { waiting[origin] = nil } else { takeTurn(origin) }
                queued.remove(name)
                return (name, permit)
            case .hostIsFull: endTurn()
            case .noSlot: return nil
            }
        }
        return nil
    }
}
