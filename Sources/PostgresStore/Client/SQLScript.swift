/// Places in a script of SQL. PostgreSQL tells the place of a mistake in the text, but not which statement failed in its course.
enum SQLScript {
    /// - Parameter position: in Unicode scalars, from 1.
    static func line(of position: Int, in sql: String) -> Int {
        1 + sql.unicodeScalars.prefix(max(0, position - 1)).count { $0 == "\n" }
    }

    /// - Parameter index: from 0. Statements without words count for nothing, as with PostgreSQL.
    static func line(ofStatement index: Int, in sql: String) -> Int? {
        let lines = statementLines(sql)
        return index < lines.count ? lines[index] : nil
    }

    /// The lines on which statements begin, comments before them aside.
    static func statementLines(_ sql: String) -> [Int] {
        var scanner = SQLScanner(sql)
        var lines: [Int] = []
        var isInside = false
        var parentheses = 0
        // The bodies of SQL functions (BEGIN ATOMIC … END) have semicolons, and may have CASE … END.
        var blocks = 0
        var word = ""
        while let token = scanner.next() {
            if case .symbol(";") = token, parentheses == 0, blocks == 0 {
                isInside = false
                continue
            }
            if !isInside {
                lines.append(scanner.tokenLine)
                isInside = true
            }
            let previous = word
            word = ""
            switch token {
            case .symbol("("): parentheses += 1
            case .symbol(")"): parentheses = max(0, parentheses - 1)
            case .word(let name):
                word = name.lowercased()
                if word == "atomic" && previous == "begin" || word == "case" && blocks > 0 {
                    blocks += 1
                } else if word == "end" {
                    blocks = max(0, blocks - 1)
                }
            case .symbol, .quoted: break
            }
        }
        return lines
    }
}
