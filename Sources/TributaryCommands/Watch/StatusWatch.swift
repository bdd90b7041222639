import FeedConfiguration
import FeedModel
import FeedParsing
import FeedStores
import Foundation
import TributaryEngine
import TributaryStores

/// Shows the state of sources in the whole window until somebody quits, as often as asked.
struct StatusWatch: Sendable {
    private(set) var look: StatusLook
    /// Seconds.
    let interval: Int
    let onlyFailing: Bool

    /// Runs on a thread of its own, as it waits for keys.
    ///
    /// - Throws: ``Failure``, ``OutputError``.
    func run() async throws {
        try await SystemThreads().run {
            var watch = self
            try watch.watch()
        }
    }

    private mutating func watch() throws {
        let terminal = Terminal()
        var screen = WatchScreen(onlyFailing: onlyFailing)
        var text = try look.read()
        var failure: String?
        var next = Date() + TimeInterval(interval)
        let window = try WatchWindow()
        defer { window.leave() }
        while true {
            let size = terminal.size ?? (80, 24)
            let selection: StatusText.Selection = screen.onlyFailing ? .failing : .all
            let inView = text.sources(selection).dropFirst(screen.offset).prefix(size.lines)
            do {
                try look.addRuns(of: inView.map(\.state.source), to: &text)
            } catch {
                failure = "\(error)"
            }
            screen.table = text.table(selection, on: terminal)
            screen.head = head(text, failure, on: terminal)
            try Terminal.write(Array(screen.frame(height: size.lines).utf8))
            switch try window.wait(until: next) {
            case .end: return
            case .resized: break
            case .keys(let keys):
                for key in keys {
                    if key == .quit { return }
                    if key == .suspend { window.suspend() }
                    screen.press(key, height: size.lines)
                }
            case .time:
                do {
                    text = try look.read()
                    failure = nil
                } catch {
                    // The store may be away for a moment, and a changed file may have mistakes; what was read last
                    // stays.
                    failure = "\(error)"
                }
                next = Date() + TimeInterval(interval)
            }
        }
    }

    private func head(_ text: StatusText, _ failure: String?, on terminal: Terminal) -> TerminalLine {
        let problems = text.status.sources.count(where: \.isProblem)
        let time = text.now.formatted(.iso8601)
        if let failure { return terminal.colored("\(time)  \(failure)", .red) }
        let sources = Figures.count(text.status.sources.count, "source")
        return "\(time)  \(sources): " + terminal.colored(text.counts, problems > 0 ? .red : .green)
    }
}

/// Reads the state of sources from the store, which is opened for that moment only and never written.
struct StatusLook: Sendable {
    private var configuration: TributaryConfiguration
    /// The names of the sources; all where there are none.
    private let sources: [String]
    private let file: String
    private let parsers: ParserRegistry
    /// The file's identity, size and time when it was read.
    private var mark: [String]

    /// - Parameter file: the path of the configuration.
    init(_ configuration: TributaryConfiguration, sources: [String], file: String, parsers: ParserRegistry) {
        (self.configuration, self.sources, self.file, self.parsers) = (configuration, sources, file, parsers)
        mark = Self.mark(of: file)
    }

    /// Returns the properties that change when a file is written or replaced; none for a file that is missing for a
    /// moment.
    private static func mark(of file: String) -> [String] {
        let path = URL(fileURLWithPath: file).resolvingSymlinksInPath().path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { return [] }
        let kinds: [FileAttributeKey] = [.systemFileNumber, .size, .modificationDate]
        return kinds.map { attributes[$0].map { "\($0)" } ?? "" } + [path]
    }

    /// Reads the last runs of those of the sources that are not in the text yet.
    func addRuns(of sources: [String], to text: inout StatusText) throws {
        var runs = text.runs ?? [:]
        let missing = sources.filter { runs[$0] == nil }
        guard !missing.isEmpty else { return }
        let named: [(String, Date?)] = missing.map { ($0, nil) }
        let found = try configuration.withExistingStore { store in
            try store?.read { try $0.runs.recent(of: named, limit: StatusText.mostRuns, changedSince: text.now) }
        }
        for source in missing { runs[source] = found?[source]?.runs.map(\.outcome) ?? [] }
        text.runs = runs
    }

    /// Reads the states, and before them the configuration if its file has changed.
    mutating func read() throws -> StatusText {
        let present = Self.mark(of: file)
        if !present.isEmpty, present != mark {
            configuration = try TributaryConfiguration(
                file: file, parsers: parsers, environment: ProcessInfo.processInfo.environment, only: sources)
            mark = present
        }
        let now = Date()
        // Of a store on a server, the daemons are in the store.
        let holder = DaemonFolder(configuration)?.holder()
        let isRunning = holder?.isDaemon ?? false
        let status = try configuration.withExistingStore {
            try StoreStatus(configuration, only: sources, in: $0, isDaemonRunning: isRunning, now: now)
        }
        return StatusText(
            status: status, now: now, isDaemonRunning: status.daemons.map { !$0.records.isEmpty } ?? isRunning,
            command: holder.flatMap { $0.isDaemon ? nil : $0.description })
    }
}
