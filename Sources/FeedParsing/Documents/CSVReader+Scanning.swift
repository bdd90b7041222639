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
                if text[index] == UInt8(ascii: "\n") || text[index] == UInt8(ascii: "\r") {
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
                let rest = text[index...]
                let end = rest.firstIndex { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
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
    private func isEnd(_ byte: UInt8) -> Bool {
        byte == delimiter || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
    }

    private func skipLine(_ text: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int {
        // The line feed of the line before.
        if isAfterReturn, text[start] == UInt8(ascii: "\n") {
            isAfterReturn = false
            return start + 1
        }
        isAfterReturn = false
        guard
            let end = text[start...].firstIndex(where: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") })
        else { return text.count }
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
            index = firstSpecial(text, index)
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

    /// Returns the position of the first delimiter or control character, such as a line end; the end without one.
    /// Checks eight bytes at a time.
    @inline(__always)
    private func firstSpecial(_ text: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int {
        guard let base = text.baseAddress else { return start }
        let memory = UnsafeRawPointer(base)
        let delimiter = delimiter
        let ones: UInt64 = 0x0101_0101_0101_0101
        let pattern = ones &* UInt64(delimiter)
        var index = start
        while index + 8 <= text.count {
            let bytes = UInt64(littleEndian: memory.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let difference = bytes ^ pattern
            let isDelimiter = (difference &- ones) & ~difference
            let isControl = (bytes &- ones &* 0x20) & ~bytes
            // The lowest bit that is set is that of the first such byte; those above it may be wrong.
            let found = (isDelimiter | isControl) & (ones << 7)
            if found != 0 { return index + found.trailingZeroBitCount >> 3 }
            index += 8
        }
        while index < text.count, base[index] != delimiter, base[index] >= 0x20 { index += 1 }
        return index
    }

    private func scanQuoted(_ text: UnsafeBufferPointer<UInt8>, _ start: Int) throws -> Int {
        let found = memchr(text.baseAddress! + start, Int32(quote), text.count - start)
        let end = found.map { UnsafeRawPointer($0) - UnsafeRawPointer(text.baseAddress!) } ?? text.count
        let part = UnsafeBufferPointer(rebasing: text[start..<end])
        // A line break within the field, or a character that is not complete, needs more than a look.
        if field.isEmpty, end + 1 < text.count, isEnd(text[end + 1]), !part.contains(where: { $0 < 0x20 }) {
            waiting?.place = end + 1
            try endField(part, isPlain: true)
            try self.end(text[end + 1])
            return end + 2
        }
        try gatherQuoted(part)
        guard end < text.count else { return end }
        isAfterReturn = false
        state = .quote
        return end + 1
    }

    /// Adds to a quoted field. Its line ends become line feeds, as in XML (XML 1.0, section 2.11).
    private func gatherQuoted(_ part: UnsafeBufferPointer<UInt8>) throws {
        var rest = part[...]
        while let found = rest.firstIndex(where: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
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
