package import FeedConfiguration
package import XMLStream

/// A block of a `sources.toml` that loads every repeated record of a document.
///
/// It is written from a ``MappingDraft`` whose records have been counted. Types and keys are those that this document's
/// values allow.
package struct MappingProposal: Sendable, Equatable {
    package let sourceName: String
    /// The block, with comments, ending in a line feed.
    package private(set) var toml: String
    /// True if the document lists feeds, each of which is a source.
    package let isList: Bool
    /// What was found of each table: its number of records, and why its key was chosen.
    package let reasons: [Reason]

    package struct Reason: Sendable, Equatable {
        package var table: String
        package var text: String
    }

    /// - Parameters:
    ///   - draft: the draft, whose counter has read the whole document.
    ///   - url: the address of the document, as the block is to give it.
    ///   - sourceName: the name of the source; nil for a name made from the URL.
    ///   - takenTables: names of tables that the store uses for something else, such as those of registered parsers.
    ///   - writtenTables: names of tables that other sources write.
    ///   - options: further keys of the request, as lines.
    ///   - credentials: what else the request sends.
    ///   - nextPage: the place in the document that names a further page; nil without one.
    package init(
        _ draft: MappingDraft, url: String, sourceName: String? = nil, takenTables: Set<String> = [],
        writtenTables: Set<String> = [], options: [String] = [], credentials: GivenCredentials = GivenCredentials(),
        nextPage: NextPageWatch.Hint? = nil
    ) {
        let tables = draft.tables
        // A line is a `row`, which says nothing of what is on it.
        let isOfLines = !options.isEmpty
        let name = sourceName ?? SourceName.make(of: url)
        TableNames.assign(
            to: tables, taken: takenTables, written: writtenTables, source: name, rows: isOfLines ? name : nil)
        let writer = PathWriter(root: draft.root)
        for table in tables { table.complete(writer) }
        for table in tables { table.completeReferences() }
        let source = "sources." + TOMLText.key(name)
        var head = (draft.head + draft.unmapped).map { "# " + DeclaredValue.line($0, longest: .max) }
        head += [
            "[\(source)]",
            "cache = \"1h\"",
            "",
            "[[\(source).requests]]",
            "key = \(TOMLText.string(name))",
            "url = \(TOMLText.string(url))",
        ]
        head += credentials.declaration + options
        if let nextPage {
            head += [
                "# The document names a further page, at \(nextPage.path).", "# Without 'page', only this one is read.",
            ]
            if let key = nextPage.key { head.append("# " + key) }
        }
        // An export writes names without a prefix in the root's namespace.
        let own = draft.root.name
        let bindings =
            (own.prefix == nil ? own.namespace.map { [(prefix: "", namespace: $0)] } ?? [] : []) + writer.bindings
        if !bindings.isEmpty {
            let bound = bindings.map { "\(TOMLText.key($0.prefix)) = \(TOMLText.string($0.namespace))" }
            head.append("namespaces = { " + bound.joined(separator: ", ") + " }")
        }
        if let message = SOAPResponse(draft.root) { head += message.comments("\(source).requests") }
        self.sourceName = name
        isList = false
        reasons = tables.map { Reason(table: $0.name, text: $0.summary) }
        toml = ([head] + tables.map { Self.block($0, source) }).map { $0.joined(separator: "\n") + "\n" }
            .joined(separator: "\n")
    }

    /// Proposes a mapping for a document that can be read twice.
    ///
    /// - Parameters:
    ///   - limit: the most values whose digests are compared.
    ///   - read: passes the whole document to a handler. It is called twice.
    /// - Throws: ``InferenceError``, and the errors of `read`.
    package init(
        url: String, sourceName: String? = nil, takenTables: Set<String> = [], limit: Int? = nil,
        reading read: (XMLStreamHandler) throws -> Void
    ) throws {
        let profile = DocumentProfile()
        try read(profile)
        let draft = try MappingDraft(profile: profile)
        try read(draft.counter(limit: limit ?? DigestSet.Budget.limit))
        self.init(draft, url: url, sourceName: sourceName, takenTables: takenTables)
    }

    /// Creates a proposal without a mapping.
    ///
    /// - Parameter isList: true if it has a source for each feed of a subscription list.
    package init(sourceName: String, toml: String, isList: Bool = false) {
        self.isList = isList
        self.sourceName = sourceName
        self.toml = toml
        reasons = []
    }

    /// Returns the proposal with sentences before its block, as comments.
    package func noting(_ remarks: [String]) -> MappingProposal {
        var proposal = self
        proposal.toml = remarks.map { "# \(DeclaredValue.line($0, longest: .max))\n" }.joined() + toml
        return proposal
    }

    private static func block(_ table: ProposedTable, _ source: String) -> [String] {
        let shared = table.avoids.map {
            [
                "# Another source writes a table \"\($0)\"; to write that one, add a `scope`, and its column to both keys."
            ]
        }
        var lines =
            (shared ?? []) + [
                "# \(table.summary)",
                "[[\(source).requests.tables]]",
                "table = \(TOMLText.string(table.name))",
                "element = \(TOMLText.string(table.place))",
            ]
        if !table.key.isEmpty { lines.append("key = \(TOMLText.strings(table.key))") }
        if let filter = table.filter { lines.append("where = '\(filter)'") }
        if let parent = table.parentOfMirror {
            // The rows of records that have left their parent would stay.
            lines += ["sync = \"mirror\"", "within = \(TOMLText.string(parent))"]
        } else {
            lines += [
                "sync = \"upsert\"", "# sync = \"mirror\"  # instead: deletes rows that the document no longer has",
            ]
        }
        lines.append("[\(source).requests.tables.columns]")
        let width = table.columns.map { TOMLText.key($0.name).count }.max() ?? 0
        for column in table.columns {
            let name = TOMLText.key(column.name)
            let padding = String(repeating: " ", count: width - name.count)
            let comment = column.comment.map { "  # \($0)" } ?? ""
            lines.append("\(name)\(padding) = \(column.declaration)\(comment)")
        }
        return lines
    }
}

extension GivenCredentials {
    /// The keys of a request, as lines.
    var declaration: [String] {
        let fields = headers.sorted { $0.key < $1.key }.map {
            "\(TOMLText.key($0.key)) = \(TOMLText.quoted($0.value.template))"
        }
        return (fields.isEmpty ? [] : ["headers = { \(fields.joined(separator: ", ")) }"])
            + (bearer.map { ["auth = { bearer = \(TOMLText.quoted($0.template)) }"] } ?? [])
    }
}

/// A document that is a SOAP message. With a `[soap]` table, the content of its Body is the document.
struct SOAPResponse {
    private let version: SOAPDeclaration.Version
    let body: ElementProfile
    /// The only element of the Body; nil if there are several.
    var content: ElementProfile? { body.children.count == 1 ? body.children[0] : nil }

    /// - Parameter root: the root of the document; nil for one that is no SOAP message.
    init?(_ root: ElementProfile) {
        let version = SOAPDeclaration.Version.allCases.first { $0.namespace == root.name.namespace }
        guard root.name.local == "Envelope", let version,
            let body = root.child(.init(local: "Body", namespace: version.namespace)), !body.children.isEmpty
        else { return nil }
        self.version = version
        self.body = body
    }

    /// Returns the lines of the table with which a request calls the operation, as comments.
    ///
    /// - Parameter request: the key of the request's table: `sources.shop.requests`.
    func comments(_ request: String) -> [String] {
        let name = content?.name.local ?? ""
        let operation = name.hasSuffix("Response") ? String(name.dropLast("Response".count)) : name
        var lines = [
            "# The document is a SOAP response, and the paths start inside its Body. To call the operation, complete this:",
            "# [\(request).soap]", "# version = \(TOMLText.string(version.rawValue))", "# action = \"…\"",
        ]
        if let namespace = content?.name.namespace { lines.append("# namespace = \(TOMLText.string(namespace))") }
        return lines + ["# name = \(TOMLText.string(operation))"]
    }
}
