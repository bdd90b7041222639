import Foundation

/// What `status --watch` shows in a window, and what keys do to it.
struct WatchScreen {
    enum Key: Equatable {
        case quit, suspend, failing, all, up, down, pageUp, pageDown, first, last, redraw
    }

    private(set) var onlyFailing: Bool
    /// The first line that is shown.
    private(set) var offset = 0
    /// The lines of the state, and what stands above them.
    var lines: [TerminalLine] = []
    var head: TerminalLine = ""

    /// The lines between the head and the foot.
    private func room(_ height: Int) -> Int { max(height - 2, 1) }

    /// - Parameter height: the lines of the window.
    mutating func press(_ key: Key, height: Int) {
        let page = room(height)
        switch key {
        case .failing, .all:
            onlyFailing = key == .failing
            offset = 0
        case .up: offset -= 1
        case .down: offset += 1
        case .pageUp: offset -= page
        case .pageDown: offset += page
        case .first: offset = 0
        case .last: offset = lines.count
        case .quit, .suspend, .redraw: break
        }
        limit(height)
    }

    private mutating func limit(_ height: Int) { offset = max(0, min(offset, lines.count - room(height))) }

    /// Returns what is written to the terminal: from its first line to its last, each cleared before its text: the
    /// cursor stays on the last cell of a full line, and would clear it.
    mutating func frame(height: Int) -> String {
        limit(height)
        let shown = lines.dropFirst(offset).prefix(room(height))
        let below = lines.count - offset - shown.count
        let place = offset == 0 && below == 0 ? "" : "  \(offset) above, \(below) below"
        let foot =
            "q quit  f failing\(onlyFailing ? "*" : "")  a all\(onlyFailing ? "" : "*")  ↑↓ jk PgUp PgDn scroll\(place)"
        let blank = Array(repeating: "", count: room(height) - shown.count)
        let all = [head.text] + shown.map(\.text) + blank + (height > 1 ? [foot] : [])
        return "\u{1B}[H" + all.prefix(height).map { "\u{1B}[2K" + $0 }.joined(separator: "\r\n")
    }

    /// Returns the keys that a terminal has sent; others are passed over.
    static func keys(in bytes: [UInt8]) -> [Key] {
        let sequences: [(String, Key)] = [
            ("\u{1B}[A", .up), ("\u{1B}OA", .up), ("\u{1B}[B", .down), ("\u{1B}OB", .down), ("\u{1B}[5~", .pageUp),
            ("\u{1B}[6~", .pageDown), ("\u{1B}[H", .first), ("\u{1B}[F", .last), ("\u{1B}[1~", .first),
            ("\u{1B}[4~", .last), ("\u{3}", .quit), ("\u{1A}", .suspend), ("\u{C}", .redraw), ("q", .quit),
            ("Q", .quit),
            ("f", .failing), ("a", .all), ("k", .up), ("j", .down), ("g", .first), ("G", .last), (" ", .pageDown),
        ]
        var keys: [Key] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            if let (text, key) = sequences.first(where: { rest.starts(with: $0.0.utf8) }) {
                keys.append(key)
                rest = rest.dropFirst(text.utf8.count)
            } else {
                rest = rest.dropFirst()
            }
        }
        return keys
    }
}
