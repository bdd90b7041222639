import XMLStream

@testable import FeedInferring

extension SchemaSet {
    /// Reads a schema from texts, by the names under which they name one another.
    convenience init(_ documents: [(name: String, text: String)]) throws {
        self.init(location: documents[0].name)
        var waiting = [SchemaDocument.Reference(location: documents[0].name, adopter: nil, isPart: true)]
        var known: Set<SchemaDocument.Reference> = []
        while let next = waiting.popLast() {
            let name = next.location.split(separator: "/").last ?? ""
            guard let text = documents.first(where: { $0.name.hasSuffix(name) })?.text else {
                skip(next.location, because: "it is not there")
                continue
            }
            guard known.insert(next).inserted else { continue }
            let document = SchemaDocument(adopter: next.adopter)
            try MappingProposal.read(text, document)
            add(document)
            waiting += document.references
        }
        complete()
    }

    convenience init(_ text: String) throws { try self.init([("s.xsd", text)]) }
}

extension MappingProposal {
    /// Proposes a mapping for all that a schema allows.
    init(of schema: SchemaSet, root: String? = nil) throws {
        self.init(try MappingDraft(schema: schema, root: root), url: "URL/feed", sourceName: "s")
    }

    /// Proposes a mapping for a document with a schema, as `tributary infer --xsd` does.
    init(of document: String, _ schema: SchemaSet) throws {
        let profile = DocumentProfile()
        try Self.read(document, profile)
        let draft = try MappingDraft(profile: profile, schema: schema)
        try Self.read(document, draft.counter())
        self.init(draft, url: "URL/feed", sourceName: "s")
    }
}
