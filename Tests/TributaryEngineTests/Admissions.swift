import FeedConfiguration
import FeedFetching
import Foundation
import Synchronization
import TestEngine

@testable import TributaryEngine

/// Places and hosts' permits as a scheduler hands them out, without one.
final class Admissions: Sendable {
    private let places: Slots
    private let hosts: HostGate
    private let free = Mutex<[Origin]>([])
    /// All permits at hosts, which are released at the end at the latest.
    private let granted = Mutex<[HostPermit]>([])

    init(places: Int, perHost: Int) {
        self.places = Slots(limit: places)
        hosts = HostGate(limit: perHost)
        hosts.onFree { [weak self] origins in self?.free.withLock { $0 += origins } }
    }

    deinit { for permit in granted.withLock(\.self) { permit.release() } }

    /// The origins at which a permit has become free for those who were refused one.
    var freed: [Origin] { free.withLock(\.self) }

    func admit(_ origin: Origin?) -> RunPermit.Admission {
        guard let host = hosts.start(at: origin ?? "") else { return .hostIsFull }
        guard places.acquire() else {
            host.release()
            return .noPlace
        }
        granted.withLock { $0.append(host) }
        return .admitted(RunPermit(places: places, host: host))
    }
}

extension Schedule {
    mutating func takeStarts(now: Date, _ admissions: Admissions) -> [Start] {
        takeStarts(now: now, admit: admissions.admit)
    }

    /// Where everything is let in.
    mutating func takeStarts(now: Date) -> [Start] { takeStarts(now: now) { _ in .admitted(RunPermit()) } }
}
