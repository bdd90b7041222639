import FeedModel
import Foundation
import Logging

extension Logger {
    /// Returns a logger whose lines go to standard error.
    static func console(_ level: Logger.Level = .info) -> Logger {
        Logger(label: "tributary") { _ in
            var handler = ConsoleLogHandler()
            handler.logLevel = level
            return handler
        }
    }
}

/// Writes log lines to standard error. For the journal they have a priority in front and no time, which the journal
/// keeps itself (sd-daemon(3)). Otherwise they have a time and a level.
struct ConsoleLogHandler: LogHandler {
    var logLevel: Logger.Level = .info
    var metadata: Logger.Metadata = [:]
    private let isJournal: Bool

    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        isJournal = Self.isJournal(environment)
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let details = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
            .map { "\($0.key)=\(Self.quoted("\($0.value)"))" }
        let message = event.message.description.escapedForTerminal(keepsLines: true)
        let text = ([message] + details).joined(separator: " ")
        let prefix =
            isJournal ? "<\(Self.priority(event.level))>" : "\(Self.time()) \(event.level.rawValue.uppercased()) "
        // A single write, so that lines of several threads stay whole. A line that goes on is indented: no text of a
        // server looks like another entry.
        let lines = prefix + text.replacing("\n", with: "\n" + prefix + "  ") + "\n"
        FileHandle.standardError.show(lines)
    }

    private static func time() -> String {
        Date().formatted(.iso8601)
    }

    /// Returns the priority of a level in syslog(3).
    private static func priority(_ level: Logger.Level) -> Int {
        switch level {
        case .critical: 2
        case .error: 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        case .debug, .trace: 7
        }
    }

    private static func quoted(_ text: String) -> String {
        let text = text.escapedForTerminal()
        return text.contains { $0 == " " || $0 == "\"" }
            ? "\"" + text.replacingOccurrences(of: "\"", with: "'") + "\"" : text
    }

    /// Returns true if standard error goes to the journal. `JOURNAL_STREAM` holds the device and inode of the stream
    /// connected to the journal (systemd.exec(5)).
    private static func isJournal(_ environment: [String: String]) -> Bool {
        var status = stat()
        guard let stream = environment["JOURNAL_STREAM"], fstat(STDERR_FILENO, &status) == 0 else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }
}
