import Foundation
import TestSupport

/// All servers, and the ways to them.
final class Internet: @unchecked Sendable {
    /// What a host allows, as `[hosts]` declares it.
    struct Host {
        var perHost: Int
        var pace: Duration?
    }

    private struct Traffic {
        /// Requests under way, by process.
        var requests: [EventLoop.Process: Int] = [:]
        /// When the last request of each process began.
        var last: [EventLoop.Process: Duration] = [:]
    }

    let loop: EventLoop
    let faults: Faults
    /// The messages between daemons that share a store.
    let messages: Messages
    /// True where several daemons share the store.
    let isShared: Bool
    let hosts: [String: Host]
    /// The feeds, by the paths of their declared addresses. Each is found under these on every host.
    private let feeds: [String: Feed]
    let receiver: Receiver
    private var traffic: [String: Traffic] = [:]
    /// The processes that ask for each source at this moment, with the number of their requests.
    private var runners: [String: [EventLoop.Process: Int]] = [:]
    let fail: (Finding) -> Void
    private(set) var requests = 0
    /// What is done when a source is asked for the next time, after which it is forgotten.
    var whenAsked: [String: () -> Void] = [:]
    /// True where a process has written to the store since this was last set.
    var hasWritten = false
    /// The processes that run a command once: they know nothing of what others ask of a host.
    var commands: Set<EventLoop.Process> = []
    /// The processes that cannot reach the store.
    private var cutOff: Set<EventLoop.Process> = []
    /// The processes that were paused or cut off once: others may have taken over what was theirs.
    private(set) var delayed: Set<EventLoop.Process> = []
    /// The hosts that a process has not asked since it was paused or cut off. It may have been about to: then its next request
    /// there counts from before.
    private var unasked: [EventLoop.Process: Set<String>] = [:]
    /// The hosts of each process's runs that are not in the store, so that others do not know when it asked them.
    private var unrecorded: [EventLoop.Process: Set<String>] = [:]
    /// The hosts of which a process has once found an address in somebody's own network, with what it has found last.
    private var privateHosts: [EventLoop.Process: [String: Bool]] = [:]
    /// True as long as no clock of any daemon is wrong, so that they agree on when a host was asked.
    var clocksAgree = true

    /// - Parameter fail: called with what no host allows.
    init(
        _ loop: EventLoop, _ faults: Faults, hosts: [String: Host], feeds: [Feed], isShared: Bool, receiver: Receiver,
        fail: @escaping (Finding) -> Void
    ) {
        self.loop = loop
        self.faults = faults
        self.isShared = isShared
        messages = Messages(loop, faults)
        self.hosts = hosts
        self.feeds = Dictionary(uniqueKeysWithValues: feeds.map { ($0.path, $0) })
        self.receiver = receiver
        self.fail = fail
    }

    /// Returns the feed at an address: a declared one, or one below it.
    func feed(at url: URL) -> Feed? { feeds["/" + url.path.split(separator: "/").prefix(2).joined(separator: "/")] }

    /// Takes note of the kind of address that a process finds for a name.
    func note(_ process: EventLoop.Process, _ host: String, isPrivate: Bool) {
        if isPrivate || privateHosts[process]?[host] != nil { privateHosts[process, default: [:]][host] = isPrivate }
    }

    /// Returns true where a process must not be led to a host: only this one has ever had a private address, and has it now.
    func isKnownAsPrivate(_ host: String, to process: EventLoop.Process) -> Bool {
        privateHosts[process].map { $0[host] == true && $0.count == 1 } ?? false
    }

    private func hosts(of source: String) -> Set<String> {
        Set(feeds.values.filter { $0.source == source }.map(\.host))
    }

    /// Takes note that the store forgets a source, and when its hosts were asked.
    func purge(_ source: String) {
        for host in hosts(of: source) {
            for process in (traffic[host]?.last ?? [:]).keys { unrecorded[process, default: []].insert(host) }
        }
    }

    /// Takes note of whether a process's last run of a source is in the store.
    func note(_ process: EventLoop.Process, _ source: String, isRecorded: Bool) {
        let hosts = hosts(of: source)
        if isRecorded {
            unrecorded[process]?.subtract(hosts)
        } else {
            unrecorded[process, default: []].formUnion(hosts)
        }
    }

    func isCutOff(_ process: EventLoop.Process) -> Bool { cutOff.contains(process) }

    /// Keeps a process from reaching the store.
    func cut(_ process: EventLoop.Process) {
        cutOff.insert(process)
        messages.lose(process)
        delay(process)
    }

    func mend(_ process: EventLoop.Process) {
        cutOff.remove(process)
        messages.regain(process)
    }

    /// Takes note that others may take over what a process does: it is paused, or cannot reach the store.
    func delay(_ process: EventLoop.Process) {
        guard isShared else { return }
        delayed.insert(process)
        unasked[process] = Set(hosts.keys)
        forgetTraffic(of: process)
    }

    /// Forgets what a process that was killed had under way.
    func forget(_ process: EventLoop.Process) {
        messages.forget(process)
        cutOff.remove(process)
        forgetTraffic(of: process)
    }

    private func forgetTraffic(of process: EventLoop.Process) {
        for host in hosts.keys {
            traffic[host]?.requests[process] = nil
            traffic[host]?.last[process] = nil
        }
        for source in runners.keys { runners[source]?[process] = nil }
    }

    fileprivate func begin(at host: String, of source: String, _ process: EventLoop.Process) {
        if let other = runners[source]?.keys.first(where: { $0 != process }) {
            fail(Finding(.claim, "p\(process) runs source \(source) while p\(other) does"))
        }
        requests += 1
        whenAsked.removeValue(forKey: source)?()
        // Its lease may end while the request is under way.
        guard !isCutOff(process) else { return }
        runners[source, default: [:]][process, default: 0] += 1
        guard let rules = hosts[host] else { return }
        traffic[host, default: Traffic()].requests[process, default: 0] += 1
        // Daemons keep to it together, and each command by itself.
        let asking = commands.contains(process) ? [process] : daemons(at: host)
        let count = asking.reduce(0) { $0 + (traffic[host]?.requests[$1] ?? 0) }
        if count > rules.perHost {
            fail(Finding(.limits, "\(host) gets \(count) requests at once, and allows \(rules.perHost)"))
        }
        unrecorded[process]?.remove(host)
        // Its next request after a pause may have been decided before.
        let wasUnderWay = unasked[process]?.remove(host) != nil
        guard !wasUnderWay else { return }
        let known = clocksAgree ? asking.filter { unrecorded[$0]?.contains(host) != true } : [process]
        // What another process knows of a host is in the store, in milliseconds.
        if let pace = rules.pace, let last = known.compactMap({ traffic[host]?.last[$0] }).max(),
            loop.now - last < pace - .milliseconds(1)
        {
            let wait = "\(loop.now - last) after the last time, and allows once in \(pace)"
            fail(Finding(.limits, "\(host) is asked by p\(process) \(wait)"))
        }
        traffic[host]?.last[process] = loop.now
    }

    private func daemons(at host: String) -> [EventLoop.Process] {
        traffic[host].map { Set($0.requests.keys).union($0.last.keys).subtracting(commands).sorted() } ?? []
    }

    fileprivate func end(at host: String, of source: String, _ process: EventLoop.Process) {
        if let count = runners[source]?[process] { runners[source]?[process] = count > 1 ? count - 1 : nil }
        guard let count = traffic[host]?.requests[process] else { return }
        traffic[host]?.requests[process] = count > 1 ? count - 1 : nil
    }
}

/// A request under way, as its host counts it.
final class Visit {
    private let internet: Internet
    private let host: String
    private let source: String
    private let process: EventLoop.Process
    private var isOver = false

    init(_ internet: Internet, _ host: String, _ source: String, _ process: EventLoop.Process) {
        self.internet = internet
        self.host = host
        self.source = source
        self.process = process
        internet.begin(at: host, of: source, process)
    }

    func end() {
        guard !isOver else { return }
        isOver = true
        internet.end(at: host, of: source, process)
    }
}
