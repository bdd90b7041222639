import XMLStream

@testable import FeedInferring

extension MappingProposal {
    /// Proposes a mapping for the text of a document, as `tributary infer` does.
    ///
    /// - Parameter limit: the most values whose digests are compared.
    init(
        of document: String, url: String, sourceName: String? = nil, takenTables: Set<String> = [], limit: Int? = nil
    ) throws {
        try self.init(url: url, sourceName: sourceName, takenTables: takenTables, limit: limit) { handler in
            try Self.read(document, handler)
        }
    }

    static func read(_ document: String, _ handler: XMLStreamHandler) throws {
        let parser = XMLStreamParser(handler: handler)
        try Array(document.utf8).withUnsafeBytes { try parser.parse($0) }
        try parser.finish()
    }
}
