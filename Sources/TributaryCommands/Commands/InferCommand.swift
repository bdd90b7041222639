import ArgumentParser
import FeedConfiguration
import FeedInferring
import FeedParsing

struct InferCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "infer",
        abstract: "Propose a mapping for a document in XML, JSON, CSV, XLSX or HTML, or for an XML Schema.",
        discussion: """
            Reads the document as a stream, and prints a block of sources.toml that loads every repeated record: the element \
            that becomes a row, its key, its columns and their types, and the tables within it. For RSS, Atom, a sitemap and \
            the ECB's rates, proposes the built-in parser; for an OPML document, a source for each of its feeds. Add the \
            block to your sources.toml, correct it, and try it with `check` and `plan`.

            With --xsd, the types, repeated elements, keys and references come from the schema. With a document too, the \
            proposal omits elements that do not occur in it.

            Examples:
              tributary infer https://www.example.com/feed.xml >> sources.toml
              tributary infer https://shop.example/prices.json --bearer '${SHOP_TOKEN}'
              tributary infer --xsd Invoice.xsd invoice.xml >> sources.toml
            """)

    @OptionGroup var options: GlobalOptions

    @Argument(
        help: ArgumentHelp(
            "The document: a file, an http:, https:, ftp:, ftps: or file: URL, or - for standard input. Optional with --xsd.",
            valueName: "file|url"))
    var location: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The XML Schema of the document: a file, or an http:, https:, ftp:, ftps: or file: URL.",
            valueName: "file|url"))
    var xsd: String?

    @Option(name: .long, help: "With --xsd alone: the root element, if the schema has several.")
    var root: String?

    @OptionGroup var document: DocumentOptions

    @Flag(name: .long, help: "Print a JSON object with the source's name and the block.")
    var json = false

    func validate() throws {
        if location == nil, xsd == nil { throw ValidationError("name a document, or a schema with --xsd") }
        if root != nil, location != nil || xsd == nil {
            throw ValidationError("--root is for --xsd without a document: a document's root is known")
        }
        if xsd != nil, document.encoding != nil {
            throw ValidationError("--encoding is for CSV, and --xsd for documents in XML")
        }
        if xsd != nil, let format = document.dialect.format, format != .xml {
            throw ValidationError("--xsd is for documents in XML")
        }
    }

    func run(_ program: Program) async throws {
        let proposing = SourceProposal(
            program: program, file: options.configurationFile, document: location, schema: xsd, root: root,
            options: document,
            credentials: try document.credentials(for: location, beside: options.configurationFile))
        let proposal = try await proposing.make()
        if json {
            try Terminal.printJSON(["source": proposal.sourceName, "toml": proposal.toml])
        } else {
            // The proposal is a whole file, or will be appended to one.
            let head = proposing.isFirst ? FirstConfiguration.schemaLine + FirstConfiguration.schemaHint + "\n" : "\n"
            try Terminal.write(Array((head + proposal.toml).utf8))
        }
    }
}
