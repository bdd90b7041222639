import FeedModel
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
    /// The server leads to another address of the feed, for now or for good, or in circles, or into a private network.
    case redirect
    /// The server cuts the feed into pages.
    case pages
    /// A name is not found, or not for seconds.
    case names
    /// Another process holds the store's write lock.
    case storeBusy
    /// The store does not answer, and has done nothing.
    case storeAway
    /// The store has done what it was asked to do, and its answer is lost.
    case commitLost
    /// The disk is full, or fails.
    case disk
    /// The process is killed.
    case kill
    /// The process does nothing for minutes, as one that is stopped or swapped out.
    case pause
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
    /// A second process undoes what a source has committed.
    case undo
    /// A second process purges a source.
    case purge
    /// A second process accepts what is blocked, or in advance.
    case accept
    /// A second process resumes a paused source.
    case resume
    /// The power fails: all processes end, and what was not synced is lost, or torn, or there.
    case power
    /// A store that is shared answers late, as one does that waits for a lock, or on a slow way.
    case storeSlow
    /// A daemon cannot reach the store for up to a minute and a half.
    case cutOff
}

/// The faults of a seed.
///
/// Whether one fires does not depend on those before it, but on where it is, and how often that place was come by.
final class Faults {
    /// How rarely each armed site fires: once in so many times.
    let armed: [FaultSite: Int]
    private let seed: UInt64
    private let steps: Steps
    private var visits: [String: Int] = [:]
    /// False once nothing is to go wrong any more.
    var isOn = true
    private(set) var fired: [FaultSite: Int] = [:]
    /// Called with each that fires.
    var onFire: (FaultSite) -> Void = { _ in }

    /// - Parameter except: sites that are not armed, whatever the seed says.
    init(seed: UInt64, except: Set<FaultSite>, _ steps: Steps) {
        var random = SplitMix64(seed: seed)
        var armed: [FaultSite: Int] = [:]
        for site in FaultSite.allCases {
            let (isArmed, rarity) = (random.oneIn(2), [3, 8, 20].randomElement(using: &random) ?? 8)
            if isArmed, !except.contains(site) { armed[site] = rarity }
        }
        self.armed = armed
        self.seed = random.next()
        self.steps = steps
    }

    /// Returns true where a site fires now.
    ///
    /// - Parameters:
    ///   - place: where that would be.
    ///   - factor: makes it rarer at this place.
    func fires(_ site: FaultSite, _ place: String, rarer factor: Int = 1) -> Bool {
        guard isOn, let rarity = armed[site] else { return false }
        let (name, number) = visit("\(site.rawValue):\(place)")
        guard number % UInt64(rarity * factor) == 0, steps.take(name) else { return false }
        count(site)
        return true
    }

    /// Draws a number for a place.
    func number(in range: ClosedRange<Int>, _ place: String) -> Int {
        let (_, number) = visit(place)
        return range.lowerBound + Int(number % UInt64(range.count))
    }

    private func visit(_ place: String) -> (name: String, number: UInt64) {
        let count = visits[place, default: 0] + 1
        visits[place] = count
        let name = "\(place)#\(count)"
        var random = SplitMix64(seed: seed ^ Fingerprint.hash(name))
        return (name, random.next())
    }

    /// Notes that something was done that this site stands for.
    func count(_ site: FaultSite) {
        fired[site, default: 0] += 1
        onFire(site)
    }

    var description: String {
        let sites = FaultSite.allCases.compactMap { site in fired[site].map { "\(site.rawValue) \($0)" } }
        return sites.isEmpty ? "none" : sites.joined(separator: ", ")
    }
}
