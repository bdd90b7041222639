package import FeedDeclarations
package import FeedParsing
package import FeedStores

extension DeclaredKeys {
    package init(_ configuration: TributaryConfiguration, parsers: ParserRegistry) {
        self.init { table in
            configuration.sources.flatMap { source in
                source.requests.compactMap { request in
                    if let key = request.key(of: table, parsers: parsers) {
                        return Key(source: source.name, columns: key)
                    }
                    let isWritten = parsers.tables(of: request.content)
                        .contains { $0.lowercased() == table.lowercased() }
                    return isWritten ? Key(source: source.name, columns: []) : nil
                }
            }
        }
    }
}
