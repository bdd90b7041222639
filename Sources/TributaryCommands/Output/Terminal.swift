import ArgumentParser
import Foundation
import Locking
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

    init(descriptor: Int32 = STDOUT_FILENO, environment: [String: String] = ProcessInfo.processInfo.environment) {
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

    /// The width of the terminal's window, in columns.
    var width: Int {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Writes a line for people.
    ///
    /// - Throws: ``OutputError``.
    static func print(_ line: TerminalLine) throws { try write(Array((line.text + "\n").utf8)) }

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
