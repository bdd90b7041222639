/// The parser classes of a program, by name.
public struct ParserRegistry: Sendable {
    private let parsers: [String: FeedParser.Type]

    /// - Precondition: no two classes have the same name; a `sources.toml` could not tell them apart.
    public init(_ parsers: [FeedParser.Type]) {
        self.parsers = Dictionary(parsers.map { (String(describing: $0), $0) }) { first, second in
            preconditionFailure("two parsers are registered under the name '\(first)'")
        }
    }

    /// In alphabetical order.
    public var names: [String] { parsers.keys.sorted() }

    /// The tables that a body's parser declares to write.
    package func tables(of content: BodyContent) -> [String] {
        switch content {
        case .parser(let name): self[name]?.tables ?? []
        case .mapping(let mapping): mapping.tables.map(\.table)
        case .mirrored: []
        }
    }

    public subscript(name: String) -> FeedParser.Type? { parsers[name] }
}
