import Foundation

/// What `status --watch` shows in a window, and what keys do to it.
struct WatchScreen {
    enum Key: Equatable {
        case quit, suspend, failing, all, open, up, down, pageUp, pageDown, first, last, redraw
    }

    private(set) var onlyFailing: Bool
    /// The position of the selected source.
    private(set) var selected = 0
    /// True while the window shows the selected source alone, with all that there is to say of it.
    private(set) var isOpen = false
    /// The first line that is shown, of the list or of the source.
    private(set) var offset = 0
    /// The state, and what stands above it.
    var table = StatusTable()
    var head: TerminalLine = ""

    /// The lines of the list or of the selected source, which scroll.
    private var lines: [TerminalLine] {
        isOpen && table.rows.indices.contains(selected)
            ? table.rows[selected].details : table.rows.map(\.line) + table.rest
    }

    /// The lines below the list that show the beginning of what there is to say of the selected source.
    private func strip(_ height: Int) -> Int { isOpen || height < 12 ? 0 : 2 }

    /// The lines that scroll: between head, heading, strip and foot.
    private func room(_ height: Int) -> Int { max(height - 3 - (isOpen ? 1 : 0) - strip(height), 1) }

    /// - Parameter height: the lines of the window.
    mutating func press(_ key: Key, height: Int) {
        let page = room(height)
        let former = selected
        switch key {
        case .failing, .all:
            onlyFailing = key == .failing
            (selected, offset, isOpen) = (0, 0, false)
        case .open:
            isOpen = !isOpen && !table.rows.isEmpty
            offset = isOpen ? 0 : selected
        case .up: move(-1)
        case .down: move(1)
        case .pageUp: move(-page)
        case .pageDown: move(page)
        case .first: move(-table.rows.count - lines.count)
        case .last: move(table.rows.count + lines.count)
        case .quit, .suspend, .redraw: break
        }
        limit(height)
        // The list follows the selection.
        if !isOpen, selected != former { offset = max(min(offset, selected), selected - room(height) + 1) }
    }

    /// Moves the selection, and beyond the last source the list; scrolls an open source.
    private mutating func move(_ lines: Int) {
        let wanted = selected + lines
        if !isOpen { selected = max(0, min(wanted, table.rows.count - 1)) }
        if isOpen || wanted != selected { offset += lines }
    }

    /// Keeps the selection within the sources, and the window within the lines.
    private mutating func limit(_ height: Int) {
        selected = max(0, min(selected, table.rows.count - 1))
        isOpen = isOpen && !table.rows.isEmpty
        offset = max(0, min(offset, lines.count - room(height)))
    }

    /// Returns what is written to the terminal: from its first line to its last, each cleared before its text: the
    /// cursor stays on the last cell of a full line, and would clear it.
    mutating func frame(height: Int) -> String {
        limit(height)
        let lines = lines
        var shown = lines.dropFirst(offset).prefix(room(height)).map(\.text)
        let below = lines.count - offset - shown.count
        shown += Array(repeating: "", count: room(height) - shown.count)
        var top = [head.text, table.heading.text]
        let source = table.rows.indices.contains(selected) ? table.rows[selected] : nil
        if isOpen {
            top.append(source?.line.text ?? "")
        } else if source != nil, shown.indices.contains(selected - offset) {
            shown[selected - offset] = Self.reversed(shown[selected - offset])
        }
        let details = (source?.details ?? []).prefix(strip(height)).map(\.text)
        let strip = details + Array(repeating: "", count: strip(height) - details.count)
        let place = offset == 0 && below == 0 ? "" : "  \(offset) above, \(below) below"
        let foot =
            "q quit  f failing\(onlyFailing ? "*" : "")  a all\(onlyFailing ? "" : "*")  ↑↓ select  "
            + "Enter \(isOpen ? "back" : "open")\(place)"
        let all = top + shown + strip + [foot]
        return "\u{1B}[H" + all.prefix(height).map { "\u{1B}[2K" + $0 }.joined(separator: "\r\n")
    }

    /// Returns a line in reverse video, which its colours do not end.
    private static func reversed(_ line: String) -> String {
        "\u{1B}[7m\(line.replacing("\u{1B}[0m", with: "\u{1B}[0m\u{1B}[7m"))\u{1B}[0m"
    }

    /// Returns the keys that a terminal has sent; others are passed over.
    static func keys(in bytes: [UInt8]) -> [Key] {
        let sequences: [(String, Key)] = [
            ("\u{1B}[A", .up), ("\u{1B}OA", .up), ("\u{1B}[B", .down), ("\u{1B}OB", .down), ("\u{1B}[5~", .pageUp),
            ("\u{1B}[6~", .pageDown), ("\u{1B}[H", .first), ("\u{1B}[F", .last), ("\u{1B}[1~", .first),
            ("\u{1B}[4~", .last), ("\u{3}", .quit), ("\u{1A}", .suspend), ("\u{C}", .redraw), ("q", .quit),
            ("Q", .quit), ("\r", .open), ("\n", .open),
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
