import FeedModel
import FeedStores
import Foundation
import TributaryEngine

/// The output of `sync`. On a terminal, a bar for each running source, below the lines of those that have ended;
/// elsewhere, the lines only.
final class ProgressDisplay: Sendable {
    private struct State {
        var running: [String: RunProgress] = [:]
        /// The number of each source's current request, and the time at which its response began to arrive.
        var began: [String: (request: Int, at: ContinuousClock.Instant)] = [:]
        /// The columns of each bar that is drawn.
        var drawn: [Int] = []
        var lastDrawn = ContinuousClock.now
        var order: [String] = []
        /// The number of runs that have ended.
        var ended = 0
        /// True once a signal has come: what still ends is cancelled.
        var isStopping = false
        /// What a line could not be written for; the runs go on.
        var failure: OutputError?

        mutating func write(_ body: () throws -> Void) {
            do {
                try body()
            } catch {
                failure = failure ?? (error as? OutputError)
            }
        }
    }

    private let terminal: Terminal
    /// The number of sources.
    private let count: Int
    private let state = Mutex(State())

    init(terminal: Terminal, count: Int) {
        self.terminal = terminal
        self.count = count
    }

    func update(_ progress: RunProgress) {
        guard terminal.isInteractive else { return }
        state.withLock { state in
            if state.running.updateValue(progress, forKey: progress.source) == nil {
                state.order.append(progress.source)
            }
            if state.began[progress.source]?.request != progress.requestNumber {
                state.began[progress.source] = (progress.requestNumber, .now)
            }
            guard ContinuousClock.now - state.lastDrawn > .milliseconds(80), !state.isStopping else { return }
            write(clearing(&state) + bars(&state), &state)
        }
    }

    /// Writes a line of JSON for a run that has ended.
    func write(_ report: RunReport) { state.withLock { $0.write { try Terminal.printJSON(report) } } }

    /// - Throws: ``OutputError`` where a line could not be written, though somebody would read it.
    func check() throws {
        if case .refused(let code) = state.withLock({ $0.failure }) { throw OutputError.refused(code) }
    }

    /// Clears what a terminal shows of Ctrl-C, and the bars, of which no more are drawn.
    func stop() {
        guard terminal.isInteractive else { return }
        state.withLock { state in
            state.isStopping = true
            write("\r\u{1B}[K" + clearing(&state), &state)
        }
    }

    func finish(_ report: RunReport, lines: [TerminalLine]) {
        state.withLock { state in
            state.ended += 1
            state.running[report.source] = nil
            state.began[report.source] = nil
            state.order.removeAll { $0 == report.source }
            let text = lines.map { $0.text + "\n" }.joined()
            write(clearing(&state) + text + (terminal.isInteractive ? bars(&state) : ""), &state)
        }
    }

    /// Writes a text at once, so that no terminal shows half of it.
    private func write(_ text: String, _ state: inout State) {
        if !text.isEmpty { state.write { try Terminal.write(Array(text.utf8)) } }
    }

    /// Returns the bars of what is running, no more than the window has lines for, and a line of how far all are.
    private func bars(_ state: inout State) -> String {
        guard !state.isStopping, let size = terminal.size else { return "" }
        let running = state.order.compactMap { state.running[$0] }
        // Bars that have left the window could not be cleared; and what clears all of it would fill the terminal's history.
        let room = size.lines - 3
        let shown = running.count <= room ? running[...] : running.prefix(max(room - 1, 0))
        let width = min(shown.map(\.source.displayWidth).max() ?? 0, size.columns / 3)
        var lines = shown.map { progress in
            let seconds = state.began[progress.source].map { (ContinuousClock.now - $0.at).seconds } ?? 0
            return Self.bar(progress, after: seconds, sourceWidth: width, columns: size.columns)
        }
        if shown.count < running.count, room > 0 { lines.append("… \(running.count - shown.count) more") }
        if count > 1, !running.isEmpty { lines.append("\(state.ended) of \(count), \(running.count) running") }
        state.drawn = lines.map(\.displayWidth)
        state.lastDrawn = .now
        return lines.map { TerminalLine($0).text + "\n" }.joined()
    }

    /// Returns what moves the cursor up over the bars, and clears everything from there. A window that has become narrower
    /// shows a bar in several lines.
    private func clearing(_ state: inout State) -> String {
        defer { state.drawn = [] }
        let columns = max(terminal.size?.columns ?? 80, 1)
        let height = state.drawn.reduce(0) { $0 + max(1, ($1 + columns - 1) / columns) }
        return height > 0 ? "\u{1B}[\(height)A\u{1B}[J" : ""
    }

    /// Returns the line of a running source. Bars of one window are equally long. In a narrow window they are shorter, and
    /// what stands last is left out.
    static func bar(_ progress: RunProgress, after seconds: Double, sourceWidth: Int, columns: Int) -> String {
        let source = progress.source.fitted(to: sourceWidth)
        let width = max(shortestBar, min(longestBar, (columns - sourceWidth) / 4))
        let bytes = Figures.bytes(progress.bytes)
        var parts = [String(repeating: " ", count: max(0, 8 - bytes.count)) + bytes] + pace(progress, after: seconds)
        parts += ["\(progress.requestNumber)/\(progress.requestCount) \(progress.request)"]
        parts += [Figures.count(progress.rows, "row")]
        func room() -> Int { columns - 1 - sourceWidth - 2 - parts.reduce(0) { $0 + 2 + $1.displayWidth } }
        while room() < width, parts.count > 1 { parts.removeLast() }
        let text = ([source, bar(progress, cells: width)] + parts).joined(separator: "  ")
        return text.prefix(columns: columns - 1)
    }

    private static let (shortestBar, longestBar) = (8, 24)

    private static func bar(_ progress: RunProgress, cells width: Int) -> String {
        if let total = progress.totalBytes, total > 0 {
            let filled = min(width, progress.bytes * width / total)
            return String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
        }
        let position = progress.bytes / (256 << 10) % width
        return String(repeating: "░", count: position) + "█" + String(repeating: "░", count: width - position - 1)
    }

    /// Returns the speed of a download and, if its size is known, the time that is left at that speed.
    private static func pace(_ progress: RunProgress, after seconds: Double) -> [String] {
        guard seconds >= 0.5, progress.bytes > 0 else { return [] }
        let rate = Double(progress.bytes) / seconds
        let pace = "\(Figures.bytes(Int(rate)))/s"
        guard let total = progress.totalBytes, total > progress.bytes else { return [pace] }
        return [pace, "\(Figures.seconds(Double(total - progress.bytes) / rate)) left"]
    }
}
