/// Reads a path from left to right.
package struct XMLPathParser {
    /// The reason why a text is not a path.
    package struct Problem: Error, CustomStringConvertible {
        package let finding: String
        /// What would be one; nil where nothing can be said.
        package let help: String?

        package var description: String { help.map { "\(finding); \($0)" } ?? finding }
    }

    private let text: [Character]
    private var position = 0
    private let namespaces: [String: String]

    /// - Parameter namespaces: the namespaces of the prefixes.
    package static func parse(_ text: String, namespaces: [String: String] = [:]) throws(Problem) -> XMLPath {
        if isPlainName(text) { return XMLPath(steps: [XMLPath.Step(test: .local(text))]) }
        var parser = XMLPathParser(text: Array(text), namespaces: namespaces)
        return try parser.path()
    }

    /// Returns true for one name of ASCII letters and digits, as most paths of a mapping are.
    private static func isPlainName(_ text: String) -> Bool {
        func isLetter(_ byte: UInt8) -> Bool { (97...122).contains(byte) || (65...90).contains(byte) }
        guard let first = text.utf8.first, isLetter(first) else { return false }
        return text.utf8.allSatisfy { isLetter($0) || (48...57).contains($0) }
    }

    private init(text: [Character], namespaces: [String: String]) {
        self.text = text
        self.namespaces = namespaces
    }

    private mutating func path() throws(Problem) -> XMLPath {
        guard !text.allSatisfy(\.isWhitespace) else { throw problem("the path is empty") }
        if skip("string(") {
            var inner = try steps(until: ")")
            guard skip(")") else { throw problem("')' is missing") }
            guard inner.target == .text else { throw problem("string(…) takes the path of an element") }
            inner.target = .deepText
            try expectEnd()
            return inner
        }
        let path = try steps(until: nil)
        try expectEnd()
        return path
    }

    private mutating func steps(until end: Character?) throws(Problem) -> XMLPath {
        var path = XMLPath()
        path.isAnywhere = skip("//")
        path.isAbsolute = path.isAnywhere || skip("/")
        if path.isAnywhere, peek == "@" || peek == "." || isAtEnd {
            throw problem("an element's name is missing after '//'")
        }
        while true {
            if skip("..") {
                guard path.steps.isEmpty, !path.isAbsolute else {
                    throw problem("'..' may only stand at the beginning")
                }
                path.ups += 1
            } else if skip("@") {
                path.target = .attribute(try nameTest())
                return path
            } else if skip("text()") {
                return path
            } else if peek == ".", !isName(after: position + 1) {
                position += 1
                guard path.steps.isEmpty else { throw problem("'.' may only stand at the beginning") }
            } else {
                path.steps.append(try step())
            }
            if isAtEnd || peek == end { return path }
            guard skip("/") else { throw problem("'\(peek.map(String.init) ?? "")' is not expected") }
            if peek == "/" { throw problem("'//' may only stand at the beginning") }
        }
    }

    private mutating func step() throws(Problem) -> XMLPath.Step {
        var step = XMLPath.Step(test: try nameTest())
        while skip("[") {
            skipSpaces()
            if let number = try self.number() {
                // In XPath, a position behind a condition counts only the elements that meet it.
                guard step.position == nil, step.predicates.isEmpty else {
                    throw problem("a position stands first, as in td[2][@class='price']")
                }
                guard step.test != .any else { throw problem("a position needs an element's name, as in td[2]") }
                step.position = number
            } else {
                step.predicates.append(try predicate())
            }
            skipSpaces()
            guard skip("]") else { throw problem("']' is missing") }
        }
        return step
    }

    /// Reads a position; nil if there is no digit.
    private mutating func number() throws(Problem) -> Int? {
        let start = position
        while let character = peek, character.isASCII, character.isNumber { position += 1 }
        guard position > start else { return nil }
        guard let number = Int(String(text[start..<position])), number > 0 else {
            throw problem("a position is a number from 1", at: start)
        }
        return number
    }

    private mutating func predicate() throws(Problem) -> XMLPath.Predicate {
        guard skip("@") else {
            throw problem(
                "a predicate is a position or asks for an attribute: [2], [@name], [@name='value'], [@name!='value'] or "
                    + "[@name~='word']")
        }
        let attribute = try nameTest()
        skipSpaces()
        if peek == "]" { return XMLPath.Predicate(attribute: attribute, condition: .exists) }
        guard let sign = ["!=", "~=", "="].first(where: { text[position...].starts(with: $0) }) else {
            throw problem("'=', '!=', '~=' or ']' is missing")
        }
        position += sign.count
        skipSpaces()
        guard let quote = peek, quote == "'" || quote == "\"" else { throw problem("a value in quotes is missing") }
        let start = position
        let value = try quoted(quote)
        if sign == "~=", value.isEmpty || value.utf8.contains(where: isXMLSpace) {
            throw problem(
                "'~=' asks for one word", at: start, help: "write a condition for each, as in [@a~='x'][@a~='y']")
        }
        let condition: XMLPath.Predicate.Condition =
            switch sign {
            case "=": .equals(value)
            case "!=": .differs(value)
            default: .includes(value)
            }
        return XMLPath.Predicate(attribute: attribute, condition: condition)
    }

    /// Reads the text up to the quote that ends it. A quote within the text is doubled.
    private mutating func quoted(_ quote: Character) throws(Problem) -> String {
        var value = ""
        repeat {
            position += 1
            let start = position
            while let character = peek, character != quote { position += 1 }
            guard !isAtEnd else { throw problem("the quote \(quote) is missing at the end of the value") }
            position += 1
            // A second quote is the value's, and is taken with what follows it.
            value += String(text[start..<(position - 1)]) + (peek == quote ? String(quote) : "")
        } while peek == quote
        return value
    }

    private mutating func nameTest() throws(Problem) -> XMLPath.NameTest {
        if skip("*") { return .any }
        if skip("{") {
            guard skip("}") else {
                throw problem(
                    "only '{}' may stand before a name, for no namespace", help: "bind a prefix for any other")
            }
            return .unqualified(try name())
        }
        if let quote = peek, quote == "'" || quote == "\"" {
            let written = try quoted(quote)
            guard !written.isEmpty else { throw problem("a name is empty") }
            return .quoted(written, element: ElementNaming.name(written))
        }
        let first = try name()
        guard peek == ":" else { return .local(first) }
        position += 1
        let local = try name()
        if first == "xml" {
            return .qualified(namespace: "http://www.w3.org/XML/1998/namespace", prefix: "xml", local: local)
        }
        guard let namespace = namespaces[first] else {
            let known = namespaces.keys.sorted().joined(separator: ", ")
            throw problem(
                "the prefix '\(first)' is not bound",
                help: "add it to the request's namespaces"
                    + (known.isEmpty ? "" : ", which bind \(known)"))
        }
        return .qualified(namespace: namespace, prefix: first, local: local)
    }

    private mutating func name() throws(Problem) -> String {
        let start = position
        while isName(after: position) { position += 1 }
        guard position > start, let first = text[start].unicodeScalars.first, XMLName.mayBegin(with: first) else {
            throw problem(peek.map { "a name is missing before '\($0)'" } ?? "a name is missing at the end")
        }
        return String(text[start..<position])
    }

    /// Returns true if the character there can be part of a name (XML 1.0, production 4a).
    private func isName(after index: Int) -> Bool {
        index < text.count && text[index].unicodeScalars.allSatisfy(XMLName.mayHold)
    }

    private var peek: Character? { position < text.count ? text[position] : nil }
    private var isAtEnd: Bool { position >= text.count }

    private mutating func skip(_ expected: String) -> Bool {
        guard text[position...].starts(with: expected) else { return false }
        position += expected.count
        return true
    }

    private mutating func skipSpaces() {
        while peek?.isWhitespace ?? false { position += 1 }
    }

    private func expectEnd() throws(Problem) {
        guard let peek else { return }
        throw problem(
            "'\(peek)' is not expected", help: peek == "[" ? "write [@name='value'] after an element's name" : nil)
    }

    /// - Parameters:
    ///   - place: the position of what is wrong; nil for the present one.
    ///   - help: what to do.
    private func problem(_ message: String, at place: Int? = nil, help: String? = nil) -> Problem {
        let character = min(place ?? position, text.count) + 1
        return Problem(
            finding: "'\(String(text))' is not a path: \(message), at character \(character)", help: help)
    }
}
