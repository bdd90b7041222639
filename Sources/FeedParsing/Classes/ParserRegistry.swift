package import FeedDeclarations

/// The parsers of a program, by name: classes, and those made of records.
public struct ParserRegistry: Sendable {
    private let parsers: [String: RegisteredParser]

    /// - Precondition: no two parsers have the same name; a `sources.toml` could not tell them apart.
    public init(_ parsers: [FeedParser.Type], records: [any RecordParsing] = []) {
        let all = parsers.map(RegisteredParser.type) + records.map(RegisteredParser.record)
        self.parsers = Dictionary(all.map { ($0.name, $0) }) { first, _ in
            preconditionFailure("two parsers are registered under the name '\(first.name)'")
        }
    }

    /// In alphabetical order.
    public var names: [String] { parsers.keys.sorted() }

    /// The tables that all of them declare to write.
    package var tables: Set<String> { Set(parsers.values.flatMap(\.tables)) }

    /// The tables that a body's parser declares to write.
    package func tables(of content: BodyContent) -> [String] {
        switch content {
        case .parser(let name): self[name]?.tables ?? []
        case .mapping(let mapping): mapping.tables.map(\.table)
        case .mirrored, .captures: []
        }
    }

    package subscript(name: String) -> RegisteredParser? { parsers[name] }
}

extension ParserRegistry: BodyParsing {
    package func converts(_ text: String, in column: ColumnMapping, isConstant: Bool) -> Bool {
        let converter = ValueConverter(column, cipher: nil)
        return (isConstant ? converter.ofConstants : converter).converts(text)
    }

    package func expectation(of column: ColumnMapping) -> String { ValueConverter(column, cipher: nil).expectation }
}
