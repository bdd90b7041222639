import FeedConfiguration
import FeedFetching
import FeedModel
import Foundation
import SQLiteStore
import Synchronization
import TestSupport
import TributaryEngine

/// A simulated process's view of the loop's time, which may be wrong.
final class SimulatedClock: RunClock, @unchecked Sendable {
    /// The time of day at the beginning of a simulation.
    static let epoch = Date(timeIntervalSince1970: 1_800_000_000)

    private let loop: EventLoop
    /// The seconds by which the time of day is wrong.
    var error: Double

    init(_ loop: EventLoop, error: Double) {
        self.loop = loop
        self.error = error
    }

    func now() -> Date { Self.epoch + loop.now.seconds + error }

    /// The time of day where no clock is wrong, in milliseconds since 1970.
    static func milliseconds(_ loop: EventLoop) -> Int64 {
        Int64(epoch.timeIntervalSince1970) * 1000 + loop.now.components.seconds * 1000
            + loop.now.components.attoseconds / 1_000_000_000_000_000
    }

    var uptime: Duration { loop.now }

    func sleep(for duration: Duration) async throws { try await loop.sleep(for: duration) }

    func alarm(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> Alarm {
        let timer = loop.after(duration, action)
        return Alarm { [loop] in loop.cancel(timer) }
    }
}

final class SimulatedRandom: RandomSource, @unchecked Sendable {
    private var numbers: SplitMix64

    init(seed: UInt64) { numbers = SplitMix64(seed: seed) }

    func next() -> UInt64 { numbers.next() }
}

/// The threads of a simulated process: all of its work is the loop's.
struct SimulatedThreads: WorkThreads {
    private struct Queue: WorkQueue {
        let loop: EventLoop
        let lane: Int

        func add(_ work: @escaping @Sendable () -> Void) { loop.add(work, lane: lane) }

        func checkCurrent() { precondition(loop.lane == lane, "work of one queue is done by another") }
    }

    let loop: EventLoop
    let process: EventLoop.Process

    func engineQueue() -> any WorkQueue { queue("tributary.engine") }

    func queue(_ label: String) -> any WorkQueue { Queue(loop: loop, lane: loop.makeLane(process)) }

    func detach(_ work: @escaping @Sendable () -> Void) { loop.add(work, process) }
}

/// The names as one process finds them. Now and then a name stands for another address, or for one in somebody's own network.
struct SimulatedNames: NameLookup, @unchecked Sendable {
    /// A public name that stands for an address in somebody's own network.
    static let privateName = "private.test"

    let internet: Internet
    let process: EventLoop.Process

    static func isPrivate(_ host: String) -> Bool { host == privateName || host == "127.0.0.1" }

    func addresses(of host: String) async throws -> [IPAddress] {
        if Self.isPrivate(host) { return [IPAddress(bytes: [10, 0, 0, 1])].compactMap(\.self) }
        let faults = internet.faults
        if faults.fires(.names, "late:" + host) {
            try await internet.loop.sleep(for: .milliseconds(faults.number(in: 100...30_000, "names:" + host)))
        }
        if faults.fires(.names, host) {
            // What the client finds then is checked with the connection.
            internet.note(process, host, isPrivate: false)
            return []
        }
        let isPrivate = faults.fires(.names, "private:" + host)
        internet.note(process, host, isPrivate: isPrivate)
        let last = faults.fires(.names, "other:" + host) ? faults.number(in: 1...250, "address:" + host) : 34
        return [IPAddress(bytes: isPrivate ? [10, 0, 0, 2] : [93, 184, 216, UInt8(last)])].compactMap(\.self)
    }
}
