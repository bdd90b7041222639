/// The text of a CREATE TABLE statement whose parts can be replaced. The rest stays as written: checks, defaults,
/// collations, foreign keys, comments.
struct TableSQL {
    /// Up to the parenthesis before the first column.
    private var head: [Token]
    /// Columns and constraints.
    private var items: [[Token]]
    /// From the parenthesis after the last one.
    private var tail: [Token]

    /// - Parameter sql: as SQLite keeps it in its schema.
    init?(_ sql: String) {
        let tokens = Token.all(in: sql)
        guard let open = tokens.firstIndex(where: { $0.text == "(" }) else { return nil }
        head = Array(tokens[...open])
        items = [[]]
        tail = []
        var depth = 1
        for (index, token) in tokens.enumerated().dropFirst(open + 1) {
            if token.text == "(" { depth += 1 }
            if token.text == ")" { depth -= 1 }
            if depth == 0 {
                tail = Array(tokens[index...])
                break
            }
            if depth == 1, token.text == "," { items.append([]) } else { items[items.count - 1].append(token) }
        }
        guard !tail.isEmpty else { return nil }
    }

    /// The statement, which creates the table under another name.
    ///
    /// - Parameter name: the name as SQL has it.
    func sql(named name: String) -> String {
        let columns = items.map { $0.map(\.text).joined() }.joined(separator: ",")
        return "CREATE TABLE \(name) (" + columns + tail.map(\.text).joined()
    }

    /// Gives a column another type.
    ///
    /// - Returns: false if the statement has no such column.
    mutating func setType(of column: String, to type: String) -> Bool {
        for index in items.indices where !Self.isConstraint(items[index]) {
            let item = items[index]
            guard let name = item.firstIndex(where: { !$0.isSpace }),
                item[name].name.lowercased() == column.lowercased()
            else { continue }
            let rest = item[(name + 1)...]
            var depth = 0
            let end =
                rest.firstIndex { token in
                    if token.text == "(" { depth += 1 }
                    if token.text == ")" { depth -= 1 }
                    return depth == 0 && token.isWord && Self.endsType.contains(token.text.uppercased())
                } ?? item.endIndex
            let blank = Token(text: " ", isSpace: true)
            items[index] = Array(item[...name]) + [blank, Token(text: type), blank] + Array(item[end...])
            return true
        }
        return false
    }

    /// Replaces the primary key.
    mutating func setPrimaryKey(_ columns: String) {
        removePrimaryKey()
        items.append([Token(text: " PRIMARY KEY (\(columns))")])
    }

    mutating func removePrimaryKey() {
        items.removeAll { Self.kind(of: $0) == "PRIMARY" }
        for index in items.indices where !Self.isConstraint(items[index]) {
            items[index] = Self.withoutPrimaryKey(items[index])
        }
    }

    /// Gives the rows a number as their primary key.
    mutating func setNumber(_ column: String) {
        removePrimaryKey()
        items.insert([Token(text: "\(column) INTEGER PRIMARY KEY")], at: 0)
    }

    /// Adds a column behind the others.
    mutating func addColumn(_ definition: String) {
        let place = items.firstIndex(where: Self.isConstraint) ?? items.endIndex
        items.insert([Token(text: " " + definition)], at: place)
    }

    mutating func addUnique(_ columns: String) { items.append([Token(text: " UNIQUE (\(columns))")]) }

    /// Lets a column take NULL.
    mutating func removeNotNull(of column: String) {
        for index in items.indices where !Self.isConstraint(items[index]) {
            let places = items[index].indices.filter { !items[index][$0].isSpace }
            guard let first = places.first, items[index][first].name.lowercased() == column.lowercased() else {
                continue
            }
            let words = places.map { items[index][$0].text.uppercased() }
            guard let at = words.indices.dropLast().first(where: { words[$0] == "NOT" && words[$0 + 1] == "NULL" })
            else { return }
            items[index].removeSubrange(places[at]...places[at + 1])
            return
        }
    }

    /// Replaces the only UNIQUE constraint after the columns.
    ///
    /// - Returns: false without one, or with several.
    mutating func replaceUnique(_ columns: String) -> Bool {
        let places = items.indices.filter { Self.kind(of: items[$0]) == "UNIQUE" }
        guard places.count == 1 else { return false }
        items[places[0]] = [Token(text: " UNIQUE (\(columns))")]
        return true
    }

    /// Returns the first conflict clause of a CREATE TABLE statement other than the usual ABORT; nil without one.
    static func conflictClause(in sql: String) -> String? {
        let tokens = Token.all(in: sql).filter { !$0.isSpace }
        let words = tokens.map { $0.isWord ? $0.text.uppercased() : "" }
        let first = words.indices.dropLast(2).first { index in
            words[index] == "ON" && words[index + 1] == "CONFLICT" && words[index + 2] != "ABORT"
        }
        return first.map { "ON CONFLICT \(words[$0 + 2])" }
    }

    // MARK: - Items

    private static let endsType: Set<String> = [
        "CONSTRAINT", "PRIMARY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE", "REFERENCES", "GENERATED",
        "AS",
    ]

    private static func isConstraint(_ item: [Token]) -> Bool { kind(of: item) != nil }

    /// Returns the first word of a table's constraint, after its name; nil for a column.
    private static func kind(of item: [Token]) -> String? {
        let tokens = item.filter { !$0.isSpace }
        guard let first = tokens.first, first.isWord else { return nil }
        let word = first.text.uppercased()
        if word == "CONSTRAINT" { return tokens.count > 2 ? tokens[2].text.uppercased() : word }
        return ["PRIMARY", "UNIQUE", "CHECK", "FOREIGN"].contains(word) ? word : nil
    }

    private static func withoutPrimaryKey(_ item: [Token]) -> [Token] {
        let places = item.indices.filter { !item[$0].isSpace }
        func word(_ position: Int) -> String {
            places.indices.contains(position) && item[places[position]].isWord
                ? item[places[position]].text.uppercased() : ""
        }
        guard var start = places.indices.dropFirst().first(where: { word($0) == "PRIMARY" && word($0 + 1) == "KEY" })
        else { return item }
        var end = start + 2
        if ["ASC", "DESC"].contains(word(end)) { end += 1 }
        if word(end) == "ON", word(end + 1) == "CONFLICT" { end += 3 }
        if word(end) == "AUTOINCREMENT" { end += 1 }
        if start > 2, word(start - 2) == "CONSTRAINT" { start -= 2 }
        let last = end < places.count ? places[end] : item.endIndex
        return Array(item[..<places[start]]) + Array(item[last...])
    }

    /// A word, a quoted name or text, a symbol; or white space and comments.
    struct Token {
        var text: String
        var isSpace = false
        var isWord = false

        /// The name that it is, without quotes.
        var name: String {
            guard let quote = text.first, "\"`[".contains(quote) else { return text }
            let inner = String(text.dropFirst().dropLast())
            return quote == "[" ? inner : inner.replacing("\(quote)\(quote)", with: "\(quote)")
        }

        static func all(in sql: String) -> [Token] {
            var tokens: [Token] = []
            var rest = Substring(sql)
            while let first = rest.first {
                var end = rest.index(after: rest.startIndex)
                var token = Token(text: "")
                func skip(while condition: (Character) -> Bool) {
                    while end < rest.endIndex, condition(rest[end]) { end = rest.index(after: end) }
                }
                if first.isWhitespace {
                    token.isSpace = true
                    skip { $0.isWhitespace }
                } else if rest.hasPrefix("--") {
                    token.isSpace = true
                    skip { !$0.isNewline }
                } else if rest.hasPrefix("/*") {
                    token.isSpace = true
                    end = rest.firstRange(of: "*/")?.upperBound ?? rest.endIndex
                } else if let close = ["'": "'", "\"": "\"", "`": "`", "[": "]"][String(first)] {
                    // A quote within is doubled, and so reads as the end of one and the start of another.
                    repeat {
                        skip { String($0) != close }
                        if end < rest.endIndex { end = rest.index(after: end) }
                        guard close != "]", end < rest.endIndex, String(rest[end]) == close else { break }
                        end = rest.index(after: end)
                    } while end < rest.endIndex
                } else if first.isLetter || first == "_" || first.isNumber {
                    token.isWord = true
                    skip { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" }
                }
                token.text = String(rest[..<end])
                tokens.append(token)
                rest = rest[end...]
            }
            return tokens
        }
    }
}
