import FeedStore
import Foundation
import Synchronization
import TributaryEngine

/// What `sync` shows: on a terminal a bar for each running source, below the lines of those that have ended; elsewhere
/// the lines only.
final class ProgressDisplay: Sendable {
    private struct State {
        var running: [String: RunProgress] = [:]
        var drawnLines = 0
        var lastDrawn = ContinuousClock.now
        var order: [String] = []
    }

    private let terminal: Terminal
    private let state = Mutex(State())

    init(terminal: Terminal) { self.terminal = terminal }

    func update(_ progress: RunProgress) {
        guard terminal.isInteractive else { return }
        state.withLock { state in
            if state.running.updateValue(progress, forKey: progress.source) == nil {
                state.order.append(progress.source)
            }
            guard ContinuousClock.now - state.lastDrawn > .milliseconds(80) else { return }
            redraw(&state)
        }
    }

    func finish(_ report: RunReport, line: String) {
        state.withLock { state in
            state.running[report.source] = nil
            state.order.removeAll { $0 == report.source }
            clear(&state)
            Terminal.print(line)
            if terminal.isInteractive { redraw(&state) }
        }
    }

    private func redraw(_ state: inout State) {
        clear(&state)
        let lines = state.order.compactMap { state.running[$0] }.map(bar)
        if !lines.isEmpty { Terminal.print(lines.joined(separator: "\n")) }
        state.drawnLines = lines.count
        state.lastDrawn = .now
    }

    /// Up over the bars, and everything from there is cleared.
    private func clear(_ state: inout State) {
        guard state.drawnLines > 0 else { return }
        FileHandle.standardOutput.write(Data("\u{1B}[\(state.drawnLines)A\u{1B}[J".utf8))
        state.drawnLines = 0
    }

    private func bar(_ progress: RunProgress) -> String {
        let width = 24
        let bar: String
        if let total = progress.totalBytes, total > 0 {
            let filled = min(width, progress.bytes * width / total)
            bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
        } else {
            let position = progress.bytes / (256 << 10) % width
            bar = String(repeating: "░", count: position) + "█" + String(repeating: "░", count: width - position - 1)
        }
        let text =
            "\(progress.source)  \(bar)  \(progress.requestNumber)/\(progress.requestCount) \(progress.request)  "
            + "\(Figures.bytes(progress.bytes))  \(progress.rows) rows"
        return String(text.prefix(terminal.width - 1))
    }
}
