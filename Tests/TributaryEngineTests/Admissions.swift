import Foundation
import Synchronization
@testable import FeedFetching
@testable import TributaryEngine

/// Slots and hosts' places as a scheduler hands them out, without one.
final class Admissions: Sendable {
    private let slots: HostLimiter
    private let slowRuns: HostLimiter
    private let hosts: HostLimiter
    private let free = Mutex<[String]>([])

    init(concurrency: Int, perHost: Int, slow: Int = 64) {
        slots = HostLimiter(limit: concurrency)
        slowRuns = HostLimiter(limit: slow)
        hosts = HostLimiter(limit: perHost)
        hosts.onFree { [weak self] key in self?.free.withLock { $0.append(key) } }
    }

    /// The origins at which a place has become free for those who were refused one.
    var freed: [String] { free.withLock(\.self) }

    /// The same, which are then forgotten.
    func takeFreed() -> [String] {
        free.withLock { free in
            defer { free = [] }
            return free
        }
    }

    func admit(_ origin: String?, _ lane: StartQueue.Lane) -> RunPermit.Admission {
        guard let place = hosts.placeIfFree(at: origin ?? "") else { return .hostIsFull }
        guard let slot = (lane == .slow ? slowRuns : slots).placeIfFree(at: RunPermit.slotKey) else { return .noSlot }
        return .admitted(
            lane == .slow ? RunPermit(slowPlace: slot, place: place) : RunPermit(slot: slot, place: place))
    }
}

extension Schedule {
    mutating func takeStarts(now: Date, _ admissions: Admissions) -> [Start] {
        takeStarts(now: now, admit: admissions.admit)
    }

    /// Where everything is let in.
    mutating func takeStarts(now: Date) -> [Start] { takeStarts(now: now) { _, _ in .admitted(RunPermit()) } }
}
