import DequeModule

/// Due sources that wait for a slot for their run, and for a place at the first host that they ask.
///
/// Hosts take turns, and a host without a free place delays only its own sources. A source is looked at when it is
/// added and when its host has a free place again, never just because others wait.
struct StartQueue {
    /// The names of waiting sources, by the first origin that they ask; nil if that is not known yet.
    private var waiting: [String?: Deque<String>] = [:]
    /// Origins that may have a free place, in turn.
    private var turns: Deque<String?> = []
    private var inTurn: Set<String?> = []
    /// Sources during whose last run a process died. They run one at a time, to show which of them is the cause.
    private var suspects: Deque<(name: String, origin: String?)> = []
    private var runningSuspect: String?
    private var queued: Set<String> = []

    var isEmpty: Bool { queued.isEmpty }

    /// Adds a source, unless it is already waiting.
    mutating func add(_ name: String, origin: String?, isSuspect: Bool) {
        guard queued.insert(name).inserted else { return }
        if isSuspect {
            suspects.append((name, origin))
        } else {
            if waiting[origin] == nil { takeTurn(origin) }
            waiting[origin, default: []].append(name)
        }
    }

    /// Returns how many sources wait for this origin.
    func waiting(at origin: String) -> Int { waiting[origin]?.count ?? 0 }

    /// Notes that this origin has a free place again.
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

    /// Returns the next source that may run, with its permit; nil if none may run now.
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
