import DequeModule
import FeedDeclarations

/// Due sources that wait for a slot, and for a permit at their first host.
///
/// Hosts take turns, and a host without a free permit delays only its own sources. A source is checked when it is
/// added, and when its host has a free permit.
///
/// Prompt sources come before unknown ones, except at every fourth start. Slow sources have slots of their own, so that
/// no other source waits for them. At one host, they take turns with the others.
struct StartQueue {
    /// The lane of a source, by its last run.
    enum Lane: Sendable, CaseIterable {
        /// Its servers answered promptly.
        case prompt
        /// Unknown.
        case new
        /// A server was slow.
        case slow
    }

    private struct Line: Hashable {
        var lane: Lane
        /// nil if unknown.
        var origin: Origin?
    }

    /// The names of waiting sources, by their first origin.
    private var waiting: [Line: Deque<String>] = [:]
    /// Origins that may have a free permit, in rotation.
    private var rotation: [Lane: Deque<Line>] = [:]
    private var inRotation: Set<Line> = []
    /// The number of consecutive starts of prompt sources.
    private var promptStarts = 0
    private static let mostPromptStarts = 3
    /// The origins whose last start was a slow source while others waited. The others start next.
    private var owed: Set<Origin?> = []
    /// Sources during whose last run a process died. They run one at a time, to find the cause.
    private var suspects: Deque<(name: String, origin: Origin?)> = []
    private var runningSuspect: String?
    private var queued: Set<String> = []

    var isEmpty: Bool { queued.isEmpty }

    /// Adds a source, unless it is already waiting.
    mutating func add(_ name: String, origin: Origin?, lane: Lane = .new, isSuspect: Bool) {
        guard queued.insert(name).inserted else { return }
        if isSuspect {
            suspects.append((name, origin))
        } else {
            let line = Line(lane: lane, origin: origin)
            if waiting[line] == nil { rotate(line) }
            waiting[line, default: []].append(name)
        }
    }

    /// Returns how many sources wait for this origin.
    func waiting(at origin: Origin) -> Int {
        Lane.allCases.reduce(0) { $0 + (waiting[Line(lane: $1, origin: origin)]?.count ?? 0) }
    }

    /// Notes that this origin has a free permit.
    mutating func free(_ origin: Origin) {
        for lane in Lane.allCases {
            let line = Line(lane: lane, origin: origin)
            if waiting[line] != nil { rotate(line) }
        }
    }

    private mutating func rotate(_ line: Line) {
        if inRotation.insert(line).inserted { rotation[line.lane, default: []].append(line) }
    }

    private mutating func end(_ line: Line) {
        inRotation.remove(line)
        rotation[line.lane]?.removeFirst()
    }

    mutating func finished(_ name: String) {
        if runningSuspect == name { runningSuspect = nil }
    }

    /// Returns the next source that may run, with its permit; nil if none may run now.
    mutating func next(
        _ admit: (_ origin: Origin?, _ lane: Lane) -> RunPermit.Admission
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

    private func othersWait(at origin: Origin?) -> Bool {
        [Lane.prompt, .new].contains { waiting[Line(lane: $0, origin: origin)] != nil }
    }

    private mutating func next(
        in lane: Lane, _ admit: (_ origin: Origin?, _ lane: Lane) -> RunPermit.Admission
    ) -> (name: String, permit: RunPermit)? {
        var passed: Deque<Line> = []
        defer { if !passed.isEmpty { rotation[lane] = passed + (rotation[lane] ?? []) } }
        while let line = rotation[lane]?.first {
            if lane == .slow, owed.contains(line.origin), othersWait(at: line.origin) {
                rotation[lane]?.removeFirst()
                passed.append(line)
                continue
            }
            switch admit(line.origin, lane) {
            case .admitted(let permit):
                end(line)
                if lane == .slow, othersWait(at: line.origin) {
                    owed.insert(line.origin)
                } else {
                    owed.remove(line.origin)
                }
                guard let name = waiting[line]?.popFirst() else { continue }
                if waiting[line]?.isEmpty ?? true { waiting[line] = nil } else { rotate(line) }
                queued.remove(name)
                return (name, permit)
            case .hostIsFull: end(line)
            case .noSlot: return nil
            }
        }
        return nil
    }
}
