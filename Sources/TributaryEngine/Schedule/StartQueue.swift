import DequeModule
import FeedConfiguration
import Foundation

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
    /// Sources during whose last run a process died. They begin one after another, to find the cause: each has some seconds
    /// alone, as its server may hang.
    private var suspects: Deque<(name: String, origin: Origin?)> = []
    private var runningSuspects: Set<String> = []
    /// Until when the last suspect that began is alone; nil once that time has passed.
    private var aloneUntil: Date?
    static let secondsAlone = 2.0
    /// The most suspects in progress. If the process dies, each of them is one again.
    static let mostSuspects = 8
    /// The most suspects whose hosts are looked at, to find one with a free permit.
    private static let mostLooks = 16
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

    mutating func finished(_ name: String) { runningSuspects.remove(name) }

    /// The time from which the next suspect may begin beside those that run; nil if none waits for it.
    var nextSuspect: Date? {
        suspects.isEmpty || runningSuspects.isEmpty || runningSuspects.count >= Self.mostSuspects ? nil : aloneUntil
    }

    /// Returns the next source that may run, with its permit; nil if none may run now.
    mutating func next(
        at now: Date, _ admit: (Origin?) -> RunPermit.Admission
    ) -> (name: String, permit: RunPermit)? {
        if let suspect = suspect(at: now, admit) { return suspect }
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

    private mutating func suspect(
        at now: Date, _ admit: (Origin?) -> RunPermit.Admission
    ) -> (name: String, permit: RunPermit)? {
        // Also if the clock was set back.
        if let end = aloneUntil, now >= end || end.timeIntervalSince(now) > 2 * Self.secondsAlone { aloneUntil = nil }
        guard runningSuspects.isEmpty || aloneUntil == nil && runningSuspects.count < Self.mostSuspects else {
            return nil
        }
        for index in suspects.indices.prefix(Self.mostLooks) {
            switch admit(suspects[index].origin) {
            case .admitted(let permit):
                let name = suspects.remove(at: index).name
                queued.remove(name)
                runningSuspects.insert(name)
                aloneUntil = now + Self.secondsAlone
                return (name, permit)
            case .hostIsFull: continue
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
