import ArgumentParser
import FeedModel
import Foundation
import TributaryEngine

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// write(2), whose name a method has here.
private let writeBytes: @Sendable (Int32, UnsafeRawPointer?, Int) -> Int = write

/// The output of a command, and whether it goes to a person's terminal.
struct Terminal: Sendable {
    /// True if standard output is a terminal that understands escape sequences.
    let isInteractive: Bool

    private let descriptor: Int32

    init(descriptor: Int32 = STDOUT_FILENO, environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.descriptor = descriptor
        isInteractive = isatty(descriptor) != 0 && environment["TERM"] != "dumb"
        usesColor =
            switch Self.colorChoice.withLock(\.self) {
            case .auto: isInteractive && (environment["NO_COLOR"] ?? "").isEmpty
            case .always: true
            case .never: false
            }
    }

    enum ColorChoice: String, CaseIterable, ExpressibleByArgument { case auto, always, never }

    /// What `--color` says, for the process.
    static let colorChoice = Mutex(ColorChoice.auto)

    private let usesColor: Bool

    enum Color: Int {
        case red = 31, green = 32, yellow = 33, gray = 90
    }

    func colored(_ text: String, _ color: Color) -> TerminalLine {
        usesColor ? TerminalLine(text).colored(color) : TerminalLine(text)
    }

    /// Returns the lines of a text that is broken at blanks where it is wider than the terminal; a single line where there is
    /// no terminal.
    ///
    /// - Parameters:
    ///   - lead: what stands before the text on the first line; nil for the indent.
    ///   - indent: the spaces before each other line.
    func wrapped(
        _ text: String, _ color: Color? = nil, after lead: TerminalLine? = nil, indent: Int = 0
    ) -> [TerminalLine] {
        let space = TerminalLine(String(repeating: " ", count: indent))
        func line(_ text: String, isFirst: Bool) -> TerminalLine {
            let shown = color.map { colored(text, $0) } ?? TerminalLine(text)
            return (isFirst ? lead ?? space : space) + shown
        }
        guard let columns = size?.columns else { return [line(text, isFirst: true)] }
        let room = max(columns - indent, 20)
        let firstRoom = lead.map { columns - $0.displayWidth } ?? room
        var lines = [""]
        for word in text.escapedForTerminal().split(separator: " ", omittingEmptySubsequences: false) {
            let last = lines[lines.count - 1]
            let joined = last + (last.isEmpty ? "" : " ") + word
            let isFirst = lines.count == 1
            // A line can be empty only behind a lead that is longer than the indent.
            let mayBreak = !last.isEmpty || isFirst && room > firstRoom
            if mayBreak, joined.displayWidth > max(isFirst ? firstRoom : room, 0) {
                lines.append(String(word))
            } else {
                lines[lines.count - 1] = joined
            }
        }
        return lines.enumerated().map { line($0.element, isFirst: $0.offset == 0).trimmed }
    }

    /// The columns and lines of the terminal's window; nil where there is no terminal.
    var size: (columns: Int, lines: Int)? {
        var size = winsize()
        guard isatty(descriptor) != 0 else { return nil }
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0
        return (isKnown && size.ws_col > 0 ? Int(size.ws_col) : 80, isKnown && size.ws_row > 0 ? Int(size.ws_row) : 24)
    }

    /// How much a command prints for people: `--quiet` and `--verbose`.
    enum Verbosity { case quiet, normal, verbose }

    /// What the command line says, for the process.
    static let verbosity = Mutex(Verbosity.normal)

    static var isQuiet: Bool { verbosity.withLock { $0 == .quiet } }
    static var isVerbose: Bool { verbosity.withLock { $0 == .verbose } }

    /// True where a person can read a question and answer it.
    static var isPersonThere: Bool { isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0 }

    /// Asks a person.
    ///
    /// - Returns: the answer without white space around it; nil where standard input has ended.
    /// - Throws: ``OutputError``.
    static func ask(_ question: TerminalLine) throws -> String? {
        try write(Array((question.text + " ").utf8))
        guard let answer = readLine() else {
            // What follows begins a line of its own.
            try write([UInt8(ascii: "\n")])
            return nil
        }
        return answer.trimmingCharacters(in: .whitespaces)
    }

    /// Writes a line for people, unless the command is quiet.
    ///
    /// - Throws: ``OutputError``.
    static func print(_ line: TerminalLine) throws {
        if !isQuiet { try write(Array((line.text + "\n").utf8)) }
    }

    /// Writes a text for people, broken at blanks where the terminal is narrower.
    ///
    /// - Parameter indent: the spaces before each line but the first.
    /// - Throws: ``OutputError``.
    static func printWrapped(_ text: String, after lead: TerminalLine = "", indent: Int = 4) throws {
        for line in Terminal().wrapped(text, after: lead, indent: indent) { try print(line) }
    }

    /// Writes a value as a line of JSON, exactly.
    ///
    /// - Throws: ``OutputError``.
    static func printJSON(_ value: some Encodable) throws { try write(Array((JSONOutput.line(value) + "\n").utf8)) }

    /// Writes bytes to standard output as they are.
    ///
    /// - Throws: ``OutputError``.
    static func write(_ bytes: [UInt8]) throws {
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { writeBytes(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count >= 0 {
                written += count
            } else if errno != EINTR {
                throw OutputError(errno)
            }
        }
    }
}

/// Standard output does not take what is written.
enum OutputError: Error, CustomStringConvertible {
    /// Nobody reads it any more: whoever has read enough ends a command so.
    case unread
    /// The system refuses it, with this error number.
    case refused(Int32)

    /// - Parameter code: an error of write(2).
    init(_ code: Int32) { self = code == EPIPE ? .unread : .refused(code) }

    var description: String {
        switch self {
        case .unread: "the output was closed"
        case .refused(let code): "standard output cannot be written: \(String(cString: strerror(code)))"
        }
    }
}

extension FileHandle {
    /// Writes a text for people. Where nobody reads it any more, or a log's disk is full, the work goes on without it.
    func show(_ text: String) { try? write(contentsOf: Data(text.utf8)) }
}

extension Figures {
    static func color(_ outcome: RunOutcome) -> Terminal.Color {
        switch outcome {
        case .committed: .green
        case .unchanged, .notDue: .gray
        case .discarded, .blocked: .red
        case .cancelled: .yellow
        }
    }

    static func color(_ condition: SourceCondition) -> Terminal.Color {
        switch condition {
        case .ok: .green
        case .new, .off, .undeclared: .gray
        case .paused: .yellow
        case .blocked, .failing, .gone: .red
        }
    }
}
