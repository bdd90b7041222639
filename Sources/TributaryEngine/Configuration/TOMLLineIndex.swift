/// On which line of a TOML document each key stands.
///
/// TOMLKit says where a document stops being TOML, but not where its values lie. This reads just enough of a document
/// that is known to be valid to find its keys; it is made only where there is a mistake to report, or the order of keys
/// matters.
struct TOMLLineIndex {
    private var lines: [TOMLKeyPath: Int] = [:]
    private var order: [TOMLKeyPath: Int] = [:]
    private var tableCounts: [TOMLKeyPath: Int] = [:]
    private let text: [UInt8]
    private var position = 0
    private var line = 1

    init(_ text: String) {
        self.text = Array(text.utf8)
        readDocument()
    }

    /// The line of the key itself, or of the nearest table around it.
    func line(of path: TOMLKeyPath) -> Int {
        var path = path
        while !path.components.isEmpty {
            if let line = lines[path] { return line }
            path = path.parent
        }
        return 1
    }

    /// The line of a key whose path is known as text, or of the nearest table around it; nil where there is none.
    func line(of description: String) -> Int? {
        let known = Dictionary(lines.map { ($0.key.description, $0.value) }) { first, _ in first }
        var path = description[...]
        while !path.isEmpty {
            if let line = known[String(path)] { return line }
            path = path.lastIndex { $0 == "." || $0 == "[" }.map { path[..<$0] } ?? ""
        }
        return nil
    }

    /// Whether one key stands before another.
    func isBefore(_ left: TOMLKeyPath, _ right: TOMLKeyPath) -> Bool {
        order[left, default: .max] < order[right, default: .max]
    }

    private mutating func readDocument() {
        var table = TOMLKeyPath()
        while skipBlanks(includingLines: true) {
            if text[position] == UInt8(ascii: "[") {
                table = readHeader()
            } else {
                readAssignment(in: table)
            }
        }
    }

    /// `[a.b]` or `[[a.b]]`, the latter being the next element of an array.
    private mutating func readHeader() -> TOMLKeyPath {
        let start = line
        position += 1
        let isElement = peek == UInt8(ascii: "[")
        if isElement { position += 1 }
        var path = TOMLKeyPath()
        for key in readKey() {
            path = path.appending(key)
            // A header below an array of tables speaks of its last element.
            if key != lastKey, let count = tableCounts[path] { path = path.appending(count - 1) }
        }
        if isElement {
            let count = tableCounts[path, default: 0]
            tableCounts[path] = count + 1
            note(path, start)
            path = path.appending(count)
        } else if let count = tableCounts[path] {
            path = path.appending(count - 1)
        }
        note(path, start)
        skipLine()
        return path
    }

    private var lastKey: String?

    private mutating func readAssignment(in table: TOMLKeyPath) {
        let start = line
        var path = table
        for key in readKey() {
            path = path.appending(key)
            note(path, start)
        }
        skipBlanks(includingLines: false)
        guard peek == UInt8(ascii: "=") else { return skipLine() }
        position += 1
        readValue(at: path)
    }

    private mutating func readValue(at path: TOMLKeyPath) {
        skipBlanks(includingLines: true)
        switch peek {
        case UInt8(ascii: "{"):
            position += 1
            while skipBlanks(includingLines: true), peek != UInt8(ascii: "}") {
                if peek == UInt8(ascii: ",") { position += 1 } else { readAssignment(in: path) }
            }
            position += 1
        case UInt8(ascii: "["):
            position += 1
            var index = 0
            while skipBlanks(includingLines: true), peek != UInt8(ascii: "]") {
                if peek == UInt8(ascii: ",") {
                    position += 1
                    index += 1
                } else {
                    note(path.appending(index), line)
                    readValue(at: path.appending(index))
                }
            }
            position += 1
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            _ = readString()
        default:
            let stops: Set<UInt8> = [10, UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: "#")]
            while let byte = peek, !stops.contains(byte) { position += 1 }
        }
    }

    private mutating func readKey() -> [String] {
        var keys: [String] = []
        while true {
            skipBlanks(includingLines: false)
            switch peek {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                keys.append(readString())
            default:
                let stops: Set<UInt8> = [10, UInt8(ascii: "."), UInt8(ascii: "="), UInt8(ascii: "]"), 32, 9]
                let start = position
                while let byte = peek, !stops.contains(byte) { position += 1 }
                keys.append(String(decoding: text[start..<position], as: UTF8.self))
            }
            skipBlanks(includingLines: false)
            guard peek == UInt8(ascii: ".") else { break }
            position += 1
        }
        lastKey = keys.last
        return keys
    }

    private mutating func readString() -> String {
        let quote = text[position]
        let isLong = text[position...].starts(with: [quote, quote, quote])
        let delimiter = [UInt8](repeating: quote, count: isLong ? 3 : 1)
        position += delimiter.count
        let start = position
        while position < text.count, !text[position...].starts(with: delimiter) {
            if text[position] == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") { position += 1 }
            if peek == 10 { line += 1 }
            position += 1
        }
        let content = String(decoding: text[start..<min(position, text.count)], as: UTF8.self)
        position += delimiter.count
        // A long string may end in quotes of its own.
        while isLong, peek == quote { position += 1 }
        return content
    }

    private var peek: UInt8? { position < text.count ? text[position] : nil }

    private mutating func note(_ path: TOMLKeyPath, _ line: Int) {
        guard lines[path] == nil else { return }
        lines[path] = line
        order[path] = order.count
    }

    /// - Returns: whether anything follows.
    @discardableResult
    private mutating func skipBlanks(includingLines: Bool) -> Bool {
        while let byte = peek {
            if byte == 10, includingLines {
                line += 1
            } else if byte == UInt8(ascii: "#") {
                while let byte = peek, byte != 10 { position += 1 }
                continue
            } else if byte != 32, byte != 9, byte != 13 {
                return true
            }
            position += 1
        }
        return false
    }

    private mutating func skipLine() {
        while let byte = peek, byte != 10 { position += 1 }
    }
}
