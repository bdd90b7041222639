import FeedModel
import Foundation
import TestSupport

/// Everything about a simulation that its seed decides before it begins.
struct Scenario {
    struct Source {
        var name: String
        var cache: Int
        var schedule: String?
        var isLimited: Bool
        var retries: Int
        var keepsHistory: Bool
        var feeds: [Feed]
    }

    let hosts: [String: Internet.Host]
    let sources: [Source]
    let hasHook: Bool
    let concurrency: Int
    /// The number of daemons, which share the store where there are several.
    let daemons: Int
    /// How long things go wrong.
    let troubled: Duration
    /// The seconds by which the clock of each daemon is wrong.
    let clockErrors: [Double]
    /// The pages in the write-ahead log after which a commit moves them into the file; nil for Tributary's own number, which
    /// no simulation reaches.
    let pagesOfLog: Int?

    var isShared: Bool { daemons > 1 }

    var feeds: [Feed] { sources.flatMap(\.feeds) }

    init(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        daemons = random.oneIn(3) ? Int.random(in: 2...3, using: &random) : 1
        let isShared = daemons > 1
        var hosts: [String: Internet.Host] = [:]
        let names = Array(["a.test", "b.test", "c.test"].prefix(Int.random(in: 1...3, using: &random)))
        for name in names {
            hosts[name] = Internet.Host(
                perHost: Int.random(in: 1...2, using: &random),
                pace: random.oneIn(3) ? .seconds(Int.random(in: 20...120, using: &random)) : nil)
        }
        var sources: [Source] = []
        for number in 0..<Int.random(in: isShared ? 2...4 : 1...3, using: &random) {
            var source = Source(
                name: "s\(number)", cache: Int.random(in: isShared ? 1...6 : 3...30, using: &random),
                schedule: random.oneIn(5) ? "*/10 * * * *" : nil, isLimited: random.oneIn(4),
                retries: Int.random(in: 0...2, using: &random), keepsHistory: random.oneIn(2), feeds: [])
            let host = names.randomElement(using: &random) ?? "a.test"
            for request in 0..<Int.random(in: 1...2, using: &random) {
                source.feeds.append(
                    Feed(
                        source: source.name, key: "r\(request)",
                        host: isShared ? host : names.randomElement(using: &random) ?? "a.test",
                        path: "/\(number)/\(request)", table: "t\(number)\(request)", mirrors: !random.oneIn(3),
                        validators: Feed.Validators.allCases.randomElement(using: &random) ?? .tag,
                        isPaged: random.oneIn(4), seed: random.next()))
            }
            sources.append(source)
        }
        self.hosts = hosts
        self.sources = sources
        hasHook = random.oneIn(5)
        concurrency = Int.random(in: 1...3, using: &random)
        // A hook looks at the store every two seconds.
        troubled = .seconds(60 * Int.random(in: hasHook || isShared ? 10...25 : 30...120, using: &random))
        let haveErrors = random.oneIn(3)
        clockErrors = (0..<daemons).map { _ in haveErrors ? Double(Int.random(in: -7200...7200, using: &random)) : 0 }
        pagesOfLog = random.oneIn(2) ? Int.random(in: 1...60, using: &random) : nil
    }

    /// The time within which each feed is asked once nothing goes wrong, however wrong clocks are: the longest interval; what
    /// a busy server has asked for; and the time in which an operator accepts what is blocked.
    ///
    /// - Parameter isPurged: true where a command has purged a source. A daemon that knew the source as stopped looks at it
    ///   again after ``DueTime/longestRetry``.
    func longestWait(isPurged: Bool) -> Duration {
        .seconds(60 * (max(isPurged ? 60 : 10, sources.map(\.cache).max() ?? 0) + 30 + 11))
    }

    /// The schema, which is executed whenever the store is opened.
    var schema: String { pagesOfLog.map { "PRAGMA wal_autocheckpoint = \($0);" } ?? "" }

    /// `sources.toml`.
    ///
    /// - Parameters:
    ///   - disabled: the sources that are switched off.
    ///   - caches: other minutes of `cache`, by source.
    func toml(disabled: Set<String> = [], caches: [String: Int] = [:]) -> String {
        let place = isShared ? "../" : ""
        var text = """
            [store]
            path = "\(place)store.sqlite"
            \(pagesOfLog == nil ? "" : "schema = \"\(place)schema.sql\"")
            [daemon]
            concurrency = \(concurrency)

            """
        for (name, host) in hosts.sorted(by: { $0.key < $1.key }) {
            text += "[hosts.\"\(name)\"]\nper_host = \(host.perHost)\n"
            if let pace = host.pace { text += "pace = \"\(pace.components.seconds)s\"\n" }
        }
        if hasHook {
            text += "[hooks.h]\non = [\"changed\", \"failing\", \"recovered\"]\npost = \"http://hook.test/\"\n"
        }
        for source in sources {
            text += "[sources.\(source.name)]\n"
            if let schedule = source.schedule {
                text += "schedule = \"\(schedule)\"\n"
            } else {
                text += "cache = \"\(caches[source.name] ?? source.cache)m\"\n"
            }
            if source.keepsHistory { text += "keep_history = true\n" }
            if disabled.contains(source.name) { text += "enabled = false\n" }
            for feed in source.feeds {
                text += """
                    [[sources.\(source.name).requests]]
                    key = "\(feed.key)"
                    url = "http://\(feed.host)\(feed.path)"
                    timeout = "20s"
                    retries = \(source.retries)
                    sync = "\(feed.mirrors ? "mirror" : "upsert")"
                    allow_empty = true
                    \(source.isLimited && feed.mirrors ? "max_deleted = \"50%\"" : "")
                    \(feed.isPaged ? "page = { link = true }" : "")
                    tables = [{ table = "\(feed.table)", element = "item", key = ["id"], columns = { id = "@id", name = "name" } }]

                    """
            }
        }
        return text
    }
}
