package import FeedModel
package import FeedConfiguration

/// The parsers of a program, by name.
public struct ParserRegistry: Sendable {
    private let parsers: [String: Parser]

    /// - Precondition: all parsers have different names, because `sources.toml` refers to them by name.
    public init(_ parsers: [Parser]) {
        self.parsers = Dictionary(parsers.map { ($0.name, $0) }) { first, _ in
            preconditionFailure("two parsers are registered under the name '\(first.name)'")
        }
    }

    /// The names of the parsers in alphabetical order.
    public var names: [String] { parsers.keys.sorted() }

    /// The tables that all parsers declare to write.
    package var tables: Set<String> { Set(parsers.values.flatMap(\.tables)) }

    /// Returns the tables that the parser of a body declares to write.
    package func tables(of content: BodyContent) -> [String] {
        switch content {
        case .parser(let name): self[name]?.tables ?? []
        case .mapping(let mapping): mapping.tables.map(\.table)
        case .mirrored, .captures: []
        }
    }

    package subscript(name: String) -> Parser? { parsers[name] }
}

extension ParserRegistry: BodyParsing {
    package func converts(_ text: String, in column: ColumnMapping, isConstant: Bool) -> Bool {
        let converter = ValueConverter(column, cipher: nil)
        return (isConstant ? converter.ofConstants : converter).converts(text)
    }

    package func expressionProblems(of table: TableMapping) -> [ExpressionProblem] {
        ExpressionCompiler.problems(of: table)
    }

    package func conditionProblem(of sql: String) -> Finding? {
        do throws(ChangeCondition.Failure) {
            _ = try ChangeCondition(sql)
            return nil
        } catch {
            return error.finding
        }
    }

    package func expectation(of column: ColumnMapping) -> String { ValueConverter(column, cipher: nil).expectation }
}
