import FeedDeclarations
import FeedFetching
import Foundation
import Synchronization
import TestEngine

@testable import TributaryEngine

/// Slots and hosts' permits as a scheduler hands them out, without one.
final class Admissions: Sendable {
    private let slots: Slots
    private let slowRuns: Slots
    private let hosts: HostGate
    private let free = Mutex<[Origin]>([])
    /// All permits at hosts, which are released at the end at the latest.
    private let granted = Mutex<[HostPermit]>([])

    init(concurrency: Int, perHost: Int, slow: Int = 64) {
        slots = Slots(limit: concurrency)
        slowRuns = Slots(limit: slow)
        hosts = HostGate(limit: perHost)
        hosts.onFree { [weak self] origins in self?.free.withLock { $0 += origins } }
    }

    deinit { for permit in granted.withLock(\.self) { permit.release() } }

    /// The origins at which a permit has become free for those who were refused one.
    var freed: [Origin] { free.withLock(\.self) }

    /// The same, which are then forgotten.
    func takeFreed() -> [Origin] {
        free.withLock { free in
            defer { free = [] }
            return free
        }
    }

    func admit(_ origin: Origin?, _ lane: StartQueue.Lane) -> RunPermit.Admission {
        guard let host = hosts.start(at: origin ?? "") else { return .hostIsFull }
        let slots = lane == .slow ? slowRuns : slots
        guard slots.acquire() else {
            host.release()
            return .noSlot
        }
        granted.withLock { $0.append(host) }
        return .admitted(RunPermit(slots: slots, isSlow: lane == .slow, host: host))
    }
}

extension Schedule {
    mutating func takeStarts(now: Date, _ admissions: Admissions) -> [Start] {
        takeStarts(now: now, admit: admissions.admit)
    }

    /// Where everything is let in.
    mutating func takeStarts(now: Date) -> [Start] { takeStarts(now: now) { _, _ in .admitted(RunPermit()) } }
}
