import TestSupport

/// A place where something can go wrong. A seed arms some of them, each with its own frequency; an armed one then fires at
/// random.
package enum FaultSite: String, CaseIterable, Sendable {
    /// An answer, or a piece of a body, comes late.
    case latency
    /// An answer, or the rest of a body, never comes.
    case hang
    /// A body ends too early.
    case cut
    /// Nobody listens.
    case refused
    /// The server answers 500 or 503.
    case failure
    /// The server answers 429, with Retry-After or without.
    case busy
    /// The server answers 304 although the feed has changed.
    case lyingUnchanged
    /// The server answers 200 although the feed has not changed.
    case ignoredCondition
    /// The body is not well-formed.
    case malformed
    /// Another process holds the store's write lock.
    case storeBusy
    /// The process is killed.
    case kill
    /// The process is told to stop, and started again.
    case restart
    /// The clock is set.
    case clock
    /// The configuration is changed.
    case reload
    /// Somebody asks for a refresh.
    case refresh
    /// The hook's receiver fails, or its answer is lost.
    case receiver
    /// A second process runs some sources once, on the same store.
    case secondProcess
}

/// The faults of a seed.
final class Faults {
    /// How rarely each armed site fires: once in so many times.
    let armed: [FaultSite: Int]
    private var random: SplitMix64
    /// False once nothing is to go wrong any more.
    var isOn = true
    private(set) var fired: [FaultSite: Int] = [:]

    /// - Parameter except: sites that are not armed, whatever the seed says.
    init(seed: UInt64, except: Set<FaultSite>) {
        var random = SplitMix64(seed: seed)
        var armed: [FaultSite: Int] = [:]
        for site in FaultSite.allCases {
            let (isArmed, rarity) = (random.oneIn(2), [3, 8, 20].randomElement(using: &random) ?? 8)
            if isArmed, !except.contains(site) { armed[site] = rarity }
        }
        self.armed = armed
        self.random = random
    }

    /// Returns true where a site fires now.
    func fires(_ site: FaultSite) -> Bool {
        guard isOn, let rarity = armed[site] else { return false }
        let fires = random.oneIn(rarity)
        if fires { fired[site, default: 0] += 1 }
        return fires
    }

    func number(in range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    var description: String {
        let sites = FaultSite.allCases.compactMap { site in fired[site].map { "\(site.rawValue) \($0)" } }
        return sites.isEmpty ? "none" : sites.joined(separator: ", ")
    }
}
