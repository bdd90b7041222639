import FeedModel

extension TOMLScanner {
    /// - Parameter depth: the number of tables and arrays around the value.
    mutating func readValue(depth: Int) throws(TOMLError) -> TOMLValue {
        switch peek {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return .string(try readString())
        case UInt8(ascii: "["): return .array(try readArray(depth: try inner(depth)))
        case UInt8(ascii: "{"): return .table(try readInlineTable(depth: try inner(depth)))
        default: return try readWord()
        }
    }

    private func inner(_ depth: Int) throws(TOMLError) -> Int {
        guard depth < TOMLLimits.depth else {
            throw error("tables and arrays are nested more than \(TOMLLimits.depth) deep")
        }
        return depth + 1
    }

    private mutating func readArray(depth: Int) throws(TOMLError) -> [TOMLNode] {
        let start = position
        advance()
        var nodes: [TOMLNode] = []
        while true {
            skipBlankLines()
            if skip("]") { return nodes }
            guard peek != nil else { throw error("the array is never closed", help: "add ] at its end", at: start) }
            let (line, first) = (self.line, position)
            let value = try readValue(depth: depth)
            nodes.append(TOMLNode(value, at: TOMLPlace(line: line, value: first..<position)))
            skipBlankLines()
            if skip("]") { return nodes }
            guard skip(",") else {
                guard peek != nil else { throw error("the array is never closed", help: "add ] at its end", at: start) }
                throw error("\(found) in an array", help: "write , before the next value, or ] at the end")
            }
        }
    }

    private mutating func readInlineTable(depth: Int) throws(TOMLError) -> TOMLTable {
        let (start, line) = (position, self.line)
        advance()
        let table = OpenTable(.key, depth: depth)
        while true {
            skipBlankLines()
            if skip("}") { return table.closed() }
            guard peek != nil else {
                throw error("the table in braces is never closed", help: "add } at its end", at: start)
            }
            try readAssignment(into: table)
            skipBlankLines()
            if skip("}") { return table.closed() }
            guard skip(",") else {
                guard peek != nil else {
                    throw error("the table in braces is never closed", help: "add } at its end", at: start)
                }
                let place = line == self.line ? "a table in braces" : "the table in braces from line \(line)"
                throw error("\(found) in \(place)", help: "write , before the next key, or } at the end")
            }
        }
    }

    /// Reads `a.b = value`.
    mutating func readAssignment(into table: OpenTable) throws(TOMLError) {
        let line = self.line
        let (path, last) = try readKey()
        guard skip("=") else { throw error("\(found) after a key", help: "write = and a value") }
        skipBlanks()
        let parent = try table.opened(path, line: line, in: source)
        let start = position
        let value = try readValue(depth: parent.depth)
        try parent.add(value, from: start..<position, at: last, line: line, in: source)
    }

    /// Reads a number, a date, `true` or `false`.
    private mutating func readWord() throws(TOMLError) -> TOMLValue {
        let start = position
        skipWord()
        // A blank may join a date and a time.
        if position - start == 10, peek == UInt8(ascii: " "), Self.isDigit(byte(at: 1)), Self.isDigit(byte(at: 2)),
            byte(at: 3) == UInt8(ascii: ":"), source.bytes[start + 4] == UInt8(ascii: "-")
        {
            advance()
            skipWord()
        }
        guard position > start else { throw error("a value is missing before \(found)") }
        do {
            return try TOMLWord.value(source.bytes[start..<position])
        } catch {
            let word = source.text(start..<position)
            throw self.error(
                "'\(TOMLKey.shown(word.unicodeScalars))' \(error.text)", help: error.help, at: start)
        }
    }

    private static func isDigit(_ byte: UInt8?) -> Bool {
        byte.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
    }

    private mutating func skipWord() {
        while let peek {
            switch peek {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"), UInt8(ascii: ","),
                UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "#"),
                UInt8(ascii: "="), UInt8(ascii: "\""), UInt8(ascii: "'"):
                return
            default: advance()
            }
        }
    }
}
