import Foundation
import Synchronization
@testable import FeedFetching
@testable import TributaryEngine

/// Slots and hosts' places as a scheduler hands them out, without one.
final class Admissions: Sendable {
    private let slots: HostLimiter
    private let hosts: HostLimiter
    private let free = Mutex<[String]>([])

    init(concurrency: Int, perHost: Int) {
        slots = HostLimiter(limit: concurrency)
        hosts = HostLimiter(limit: perHost)
        hosts.onFree { [weak self] key in self?.free.withLock { $0.append(key) } }
    }

    /// The origins at which a place has become free for those who were refused one.
    var freed: [String] { free.withLock(\.self) }

    func admit(_ origin: String?) -> RunPermit.Admission {
        guard let place = hosts.placeIfFree(at: origin ?? "") else { return .hostIsFull }
        guard let slot = slots.placeIfFree(at: RunPermit.slotKey) else { return .noSlot }
        return .admitted(RunPermit(slot: slot, place: place))
    }
}

extension Schedule {
    mutating func takeStarts(now: Date, _ admissions: Admissions) -> [Start] {
        takeStarts(now: now, admit: admissions.admit)
    }

    /// Where everything is let in.
    mutating func takeStarts(now: Date) -> [Start] { takeStarts(now: now) { _ in .admitted(RunPermit()) } }
}
