import FeedConfiguration
import FeedModel
import Logging
import TributaryEngine

/// Refreshes sources once, and shows how that goes.
struct SyncRun {
    let configuration: TributaryConfiguration
    /// The names of the sources; all where there are none.
    var sources: [String] = []
    var mode = RefreshMode.whenDue
    var json = false

    /// - Returns: false where a source failed, or waits after a failure.
    func run(_ program: Program) async throws -> Bool {
        let terminal = Terminal()
        let count = sources.isEmpty ? configuration.enabledSources.count : sources.count
        let display = ProgressDisplay(terminal: terminal, count: count)
        let (isJSON, isQuiet) = (json, Terminal.isQuiet)
        let service = try program.service(configuration, logger: .console()) {
            if !isJSON, !isQuiet { display.update($0) }
        }
        defer { try? service.close() }
        let names = sources
        let (mode, width) = (
            mode, (sources.isEmpty ? configuration.sources.map(\.name) : sources).map(\.displayWidth).max() ?? 0
        )

        // After a signal, runs in progress are cancelled, and report that.
        let reports = try await untilSignalled(onSignal: display.stop) {
            try await service.sync(names, mode: mode) { report in
                if isJSON {
                    display.write(report)
                } else if !isQuiet || report.error != nil {
                    display.finish(report, lines: RunLines.lines(report, nameWidth: width, on: terminal))
                }
            }
        }
        tellDaemon(reports)
        try display.check()
        if !json, reports.count > 1 {
            do {
                try Terminal.print(TerminalLine(RunLines.summary(reports)))
            } catch OutputError.unread {
                // The runs have ended as they have, whoever reads it.
            }
        }
        // A source that waits after a failure has an error, too.
        return reports.allSatisfy { $0.error == nil }
    }

    /// Tells the daemon of a store in a file what was run: a store on a server tells it itself.
    private func tellDaemon(_ reports: [RunReport]) {
        let ran = reports.filter { $0.outcome != .notDue }.map(\.source)
        guard !ran.isEmpty, let folder = DaemonFolder(configuration) else { return }
        do {
            try folder.noteRuns(of: ran)
        } catch {
            Failure.warn("the daemon does not know of these runs, and keeps its own times: \(error)")
        }
    }
}
