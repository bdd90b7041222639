import DequeModule
import FeedDeclarations

/// Due sources that wait for a place among the runs in progress, and for a permit at their first host.
///
/// Hosts take turns, and a host without a free permit delays only its own sources. A source is checked when it is
/// added, and when its host has a free permit.
struct StartQueue {
    /// The names of waiting sources, by their first origin; nil if it is unknown.
    private var waiting: [Origin?: Deque<String>] = [:]
    /// Origins that may have a free permit, in rotation.
    private var rotation: Deque<Origin?> = []
    private var inRotation: Set<Origin?> = []
    /// Sources during whose last run a process died. They run one at a time, to find the cause.
    private var suspects: Deque<(name: String, origin: Origin?)> = []
    private var runningSuspect: String?
    private var queued: Set<String> = []

    var isEmpty: Bool { queued.isEmpty }

    /// Adds a source, unless it is already waiting.
    mutating func add(_ name: String, origin: Origin?, isSuspect: Bool) {
        guard queued.insert(name).inserted else { return }
        if isSuspect {
            suspects.append((name, origin))
        } else {
            if waiting[origin] == nil { rotate(origin) }
            waiting[origin, default: []].append(name)
        }
    }

    /// Returns how many sources wait for this origin.
    func waiting(at origin: Origin) -> Int { waiting[origin]?.count ?? 0 }

    /// Notes that this origin has a free permit.
    mutating func free(_ origin: Origin) { if waiting[origin] != nil { rotate(origin) } }

    private mutating func rotate(_ origin: Origin?) {
        if inRotation.insert(origin).inserted { rotation.append(origin) }
    }

    mutating func finished(_ name: String) {
        if runningSuspect == name { runningSuspect = nil }
    }

    /// Returns the next source that may run, with its permit; nil if none may run now.
    mutating func next(_ admit: (Origin?) -> RunPermit.Admission) -> (name: String, permit: RunPermit)? {
        if runningSuspect == nil, let suspect = suspects.first {
            switch admit(suspect.origin) {
            case .admitted(let permit):
                suspects.removeFirst()
                queued.remove(suspect.name)
                runningSuspect = suspect.name
                return (suspect.name, permit)
            case .hostIsFull, .noPlace: break
            }
        }
        while let origin = rotation.first {
            switch admit(origin) {
            case .admitted(let permit):
                end(origin)
                guard let name = waiting[origin]?.popFirst() else {
                    permit.release()
                    continue
                }
                if waiting[origin]?.isEmpty ?? true { waiting[origin] = nil } else { rotate(origin) }
                queued.remove(name)
                return (name, permit)
            case .hostIsFull: end(origin)
            case .noPlace: return nil
            }
        }
        return nil
    }

    /// Ends the turn of the first origin in rotation.
    private mutating func end(_ origin: Origin?) {
        inRotation.remove(origin)
        rotation.removeFirst()
    }
}
