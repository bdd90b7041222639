import FeedModel
import Foundation

/// Finds the fields and lines of CSV in its characters.
extension CSVReader {
    func scan(_ text: UnsafeBufferPointer<UInt8>) throws {
        waiting?.begin(text)
        defer { waiting?.end(isWithinLine: state != .rowStart && state != .skipping) }
        var index = 0
        while index < text.count {
            switch state {
            case .skipping: index = skipLine(text, index)
            case .rowStart:
                if Self.isLineEnd(text[index]) {
                    endLine(text[index])
                    index += 1
                } else {
                    waiting?.beginLine(index)
                    try beginRow()
                }
            case .fieldStart:
                if text[index] == quote {
                    state = .quoted
                    quoteLine = line
                    index += 1
                } else if text[index] == UInt8(ascii: " "), delimiter != UInt8(ascii: " ") {
                    index += 1
                } else {
                    state = .unquoted
                    index = try scanUnquoted(text, index)
                }
            case .unquoted: index = try scanUnquoted(text, index)
            case .quoted: index = try scanQuoted(text, index)
            case .quote, .quotedEnd:
                let byte = text[index]
                if byte == quote, case .quote = state {
                    field.append(quote)
                    state = .quoted
                } else if isEnd(byte) {
                    waiting?.place = index
                    try endGatheredField()
                    try end(byte)
                } else if byte == UInt8(ascii: " ") {
                    state = .quotedEnd
                } else {
                    // Where the closing quote is missing, the next quote is lines below.
                    let problem = problem(
                        "a quoted field continues after its closing quote\(line == quoteLine ? "" : ", on line \(line)"); "
                            + "close the field, double a quote within it, or write quote = \"\" if no field is quoted",
                        at: quoteLine)
                    guard reject(problem) else { throw problem }
                }
                index += 1
            case .rejected:
                let end = text[index...].firstIndex(where: Self.isLineEnd)
                index = end ?? text.count
                guard let end else { break }
                waiting?.place = end
                endLine(text[end])
                try endRejectedLine()
                index += 1
            }
        }
    }

    @inline(__always)
    private func isEnd(_ byte: UInt8) -> Bool { byte == delimiter || Self.isLineEnd(byte) }

    @inline(__always)
    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }

    private func skipLine(_ text: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int {
        let isOfLineBefore = isAfterReturn && text[start] == UInt8(ascii: "\n")
        isAfterReturn = false
        if isOfLineBefore { return start + 1 }
        guard let end = text[start...].firstIndex(where: Self.isLineEnd) else { return text.count }
        endLine(text[end])
        linesToSkip -= 1
        if linesToSkip == 0 { state = .rowStart }
        return end + 1
    }

    @inline(__always)
    private func scanUnquoted(_ text: UnsafeBufferPointer<UInt8>, _ start: Int) throws -> Int {
        var index = start
        var isPlain = true
        while true {
            index = text.firstControl(from: index, or: delimiter)
            guard index < text.count, !isEnd(text[index]) else { break }
            // A tab, or what XML cannot hold.
            isPlain = false
            index += 1
        }
        let part = UnsafeBufferPointer(rebasing: text[start..<index])
        guard index < text.count else {
            try gather(part)
            return index
        }
        waiting?.place = index
        if field.isEmpty {
            try endField(part, isPlain: isPlain)
        } else {
            try gather(part)
            try endGatheredField()
        }
        try end(text[index])
        return index + 1
    }

    private func scanQuoted(_ text: UnsafeBufferPointer<UInt8>, _ start: Int) throws -> Int {
        var end = text.firstControl(from: start, or: quote)
        if field.isEmpty, end + 1 < text.count, text[end] == quote, isEnd(text[end + 1]) {
            waiting?.place = end + 1
            try endField(UnsafeBufferPointer(rebasing: text[start..<end]), isPlain: true)
            try self.end(text[end + 1])
            return end + 2
        }
        // A quote or a line break within the field needs more than a look.
        end = text[end...].firstIndex(of: quote) ?? text.count
        try gatherQuoted(UnsafeBufferPointer(rebasing: text[start..<end]))
        guard end < text.count else { return end }
        isAfterReturn = false
        state = .quote
        return end + 1
    }

    /// Adds to a quoted field. Its line ends become line feeds, as in XML (XML 1.0, section 2.11).
    private func gatherQuoted(_ part: UnsafeBufferPointer<UInt8>) throws {
        var rest = part[...]
        while let found = rest.firstIndex(where: Self.isLineEnd) {
            if found > rest.startIndex { isAfterReturn = false }
            let isSecond = isAfterReturn && part[found] == UInt8(ascii: "\n")
            try gather(UnsafeBufferPointer(rebasing: rest[..<found]))
            endLine(part[found])
            if !isSecond { field.append(UInt8(ascii: "\n")) }
            rest = rest[(found + 1)...]
        }
        if !rest.isEmpty { isAfterReturn = false }
        try gather(UnsafeBufferPointer(rebasing: rest))
    }

    private func gather(_ part: UnsafeBufferPointer<UInt8>) throws {
        guard field.count + part.count <= Self.fieldLimit else {
            throw problem("a field is longer than \(ByteSize.text(Self.fieldLimit))", at: rowLine)
        }
        field.append(contentsOf: part)
    }

    /// Counts a line at a character that ends one.
    func endLine(_ byte: UInt8) {
        if byte == UInt8(ascii: "\r") || !isAfterReturn { line += 1 }
        isAfterReturn = byte == UInt8(ascii: "\r")
    }
}
