import Foundation
import Synchronization

/// The output of a command, and whether it goes to a person's terminal.
struct Terminal: Sendable {
    /// True if standard output is a terminal that understands escape sequences.
    let isInteractive: Bool

    init(descriptor: Int32 = STDOUT_FILENO, environment: [String: String] = ProcessInfo.processInfo.environment) {
        isInteractive = isatty(descriptor) != 0 && environment["TERM"] != "dumb"
        usesColor = isInteractive && environment["NO_COLOR"] == nil
    }

    private let usesColor: Bool

    enum Color: Int {
        case red = 31, green = 32, yellow = 33, gray = 90
    }

    func colored(_ text: String, _ color: Color) -> String {
        usesColor ? "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// The width of the terminal's window, in columns.
    var width: Int {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    static func print(_ text: String) { FileHandle.standardOutput.show(text + "\n") }
}
