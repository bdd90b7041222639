import FeedDeclarations
import FeedFetching
import FeedModel
import FeedStore
import Foundation

/// What the scheduler knows and decides: which sources run, which wait, and which is started next. A value, changed by
/// events and asked for starts; it knows no clock and starts nothing.
struct Schedule {
    struct Start {
        var source: SourceDeclaration
        var mode: RefreshMode
        var permit: RunPermit
    }

    private var sources: [String: SourceDeclaration] = [:]
    private var queue = DueQueue()
    /// Sources that are due.
    private var ready = StartQueue()
    private var running: Set<String> = []
    /// Sources whose next run pays no heed to due times: somebody asked for it.
    private var asked: Set<String> = []
    /// Sources that were declared differently while they ran.
    private var changed: Set<String> = []
    /// Sources during whose last run a process died.
    private var suspects: Set<String>
    /// How each source is run once; nil for a schedule that goes on.
    private var once: RefreshMode?

    /// Each enabled source whenever it is due.
    init(_ configuration: TributaryConfiguration, states: [String: SourceState], now: Date) {
        suspects = Self.suspects(states)
        for source in configuration.enabledSources {
            sources[source.name] = source
            let due = DueTime.start(source, state: states[source.name], now: now)
            queue.schedule(source.name, at: Self.look(at: due, now: now))
        }
    }

    /// These sources, each once and as soon as may be.
    init(once mode: RefreshMode, _ sources: [SourceDeclaration], states: [String: SourceState], now: Date) {
        suspects = Self.suspects(states)
        once = mode
        for source in sources {
            self.sources[source.name] = source
            ready(source)
        }
    }

    private static func suspects(_ states: [String: SourceState]) -> Set<String> {
        Set(states.values.filter { $0.attempts > 0 }.map(\.source))
    }

    /// When to look again; nil while nothing is declared.
    var nextWake: Date? {
        mutating get { queue.nextDue() }
    }

    /// Whether nothing runs, and nothing is to run.
    var isDone: Bool { once != nil && running.isEmpty && ready.isEmpty }

    /// A source that is running is run once more when it has ended.
    mutating func refresh(_ names: [String]?) {
        for name in names ?? sources.keys.sorted() where sources[name] != nil { ask(name) }
    }

    private mutating func ask(_ name: String) {
        asked.insert(name)
        if !running.contains(name) { queue.schedule(name, at: .distantPast) }
    }

    private mutating func ready(_ source: SourceDeclaration) {
        ready.add(source.name, origin: source.firstOrigin, isSuspect: suspects.contains(source.name))
    }

    /// Sources declared as before are not disturbed; new ones are due, and so are those declared differently.
    mutating func reload(_ configuration: TributaryConfiguration, now: Date) {
        let former = sources
        sources = Dictionary(uniqueKeysWithValues: configuration.enabledSources.map { ($0.name, $0) })
        for name in former.keys where sources[name] == nil {
            queue.remove(name)
            asked.remove(name)
            changed.remove(name)
        }
        for (name, source) in sources where former[name] != source {
            if running.contains(name) { changed.insert(name) } else { queue.schedule(name, at: now) }
        }
    }

    /// The clock was set; whatever waits does so as long as before.
    mutating func clockWasSet(from former: Date, to now: Date) { queue.shift(by: now.timeIntervalSince(former)) }

    /// There is a place at this origin again.
    mutating func free(_ origin: String) { ready.free(origin) }

    /// - Parameter jitter: from 0 to 1; lets sources that were due together drift apart.
    mutating func finished(_ name: String, nextDue: Date?, now: Date, jitter: Double = .random(in: 0...1)) {
        running.remove(name)
        suspects.remove(name)
        ready.finished(name)
        let isChanged = changed.remove(name) != nil
        guard once == nil, let source = sources[name] else { return }
        // Never again within the same second, however short the cache interval.
        let due = Self.look(at: max(nextDue ?? now + source.cache.seconds, now + 1), now: now)
        queue.schedule(
            name,
            at: asked.contains(name) || isChanged
                ? .distantPast : due + jitter * min(30, source.cache.seconds / 20))
    }

    /// When to look at a source: one that is never due may have been let go by another process meanwhile.
    private static func look(at due: Date, now: Date) -> Date {
        due == .distantFuture ? now + DueTime.longestRetry.seconds : due
    }

    /// The runs to start now.
    ///
    /// - Parameter admit: gives a run what it needs to begin, where that is free.
    mutating func takeStarts(now: Date, admit: (_ origin: String?) -> RunPermit.Admission) -> [Start] {
        while let name = queue.popDue(by: now) {
            // One that runs is scheduled again when it has ended.
            if let source = sources[name], !running.contains(name) { ready(source) }
        }
        var starts: [Start] = []
        while let (name, permit) = ready.next(admit) {
            guard let source = sources[name] else {
                ready.finished(name)
                continue
            }
            running.insert(name)
            let mode = asked.remove(name) != nil ? .force : once ?? .whenDue
            starts.append(Start(source: source, mode: mode, permit: permit))
        }
        return starts
    }
}

extension SourceDeclaration {
    /// Whom the first request asks; nil where only a response or the store can tell.
    var firstOrigin: String? {
        guard let first = requests.first, !first.url.isDynamic else { return nil }
        return try? first.origin()
    }
}
