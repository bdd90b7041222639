import FeedStore
import Foundation

/// What the scheduler knows and decides: which sources run, which wait, and which is started next. A value, changed by
/// events and asked for starts; it knows no clock and starts nothing.
struct SchedulerPlan {
    struct Start {
        var source: SourceDeclaration
        var mode: RefreshMode
    }

    private var sources: [String: SourceDeclaration] = [:]
    private var concurrency: Int
    private var queue = DueQueue()
    private var running: Set<String> = []
    /// Sources whose next run pays no heed to due times: somebody asked for it.
    private var asked: Set<String> = []

    init(_ configuration: TributaryConfiguration, states: [String: SourceState], now: Date) {
        concurrency = configuration.concurrency
        for source in configuration.enabledSources {
            sources[source.name] = source
            queue.schedule(source.name, at: DueTime.start(source, state: states[source.name], now: now))
        }
    }

    /// When to look again; nil while every place is taken or nothing is declared.
    var nextWake: Date? {
        mutating get { running.count < concurrency ? queue.nextDue() : nil }
    }

    /// A source that is running is run once more when it has ended.
    mutating func refresh(_ names: [String]?) {
        for name in names ?? sources.keys.sorted() where sources[name] != nil { ask(name) }
    }

    private mutating func ask(_ name: String) {
        asked.insert(name)
        if !running.contains(name) { queue.schedule(name, at: .distantPast) }
    }

    /// Sources declared as before are not disturbed; new ones are due, and so are those declared differently.
    mutating func reload(_ configuration: TributaryConfiguration, now: Date) {
        concurrency = configuration.concurrency
        let former = sources
        sources = Dictionary(uniqueKeysWithValues: configuration.enabledSources.map { ($0.name, $0) })
        for name in former.keys where sources[name] == nil {
            queue.remove(name)
            asked.remove(name)
        }
        for (name, source) in sources where former[name] != source {
            if former[name] != nil { ask(name) } else if !running.contains(name) { queue.schedule(name, at: now) }
        }
    }

    /// - Parameter jitter: from 0 to 1; lets sources that were due together drift apart.
    mutating func finished(_ name: String, nextDue: Date?, now: Date, jitter: Double = .random(in: 0...1)) {
        running.remove(name)
        guard let source = sources[name] else { return }
        // Never again within the same second, however short the cache interval.
        let due = max(nextDue ?? now + source.cache.seconds, now + 1)
        queue.schedule(
            name, at: asked.contains(name) ? .distantPast : due + jitter * min(30, source.cache.seconds / 20))
    }

    /// The runs to start now.
    mutating func takeStarts(now: Date) -> [Start] {
        var starts: [Start] = []
        while running.count < concurrency, let name = queue.popDue(by: now) {
            guard let source = sources[name], running.insert(name).inserted else { continue }
            starts.append(Start(source: source, mode: asked.remove(name) != nil ? .force : .whenDue))
        }
        return starts
    }
}
