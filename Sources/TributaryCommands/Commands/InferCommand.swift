import ArgumentParser
import FeedDeclarations
import FeedFetching
import FeedInferring
import FeedParsing
import Foundation
import TributaryEngine

struct InferCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "infer", abstract: "Propose a mapping for a document in XML, JSON or CSV, or for an XML Schema.",
        discussion: """
            Reads the document as a stream, whatever its length, and prints a block of sources.toml that loads every repeated \
            record: what is a row, its key, its columns and their types, and the tables below it; of an OPML document, a \
            source for each of its feeds. Add it to your \
            sources.toml, change what you know better, and try it with `check` and `plan`.

            With --xsd, the schema says what the elements are: their types, which repeat, keys and references. A document \
            beside it leaves out what does not occur.

            Example:
              tributary infer https://www.example.com/feed.xml >> sources.toml
              tributary infer --xsd Invoice.xsd invoice.xml >> sources.toml
            """)

    @OptionGroup var options: GlobalOptions

    @Argument(
        help: ArgumentHelp(
            "The document: a file, an http:, https:, ftp:, ftps: or file: URL, or - for standard input. It may be absent with --xsd.",
            valueName: "file|url"))
    var location: String?

    @Option(
        name: .long,
        help: ArgumentHelp("The XML Schema of the document: a file or a URL, as above.", valueName: "file|url"))
    var xsd: String?

    @Option(name: .long, help: "With --xsd alone: the root element, where the schema has several.")
    var root: String?

    @Option(name: .long, help: "The source's name; one made of the address by default.")
    var name: String?

    @Option(
        name: .long,
        help:
            "What the document is: xml, json, jsonl or csv; by default what its media type, its suffix or its first byte say.",
        transform: { text in
            guard let format = BodyFormat(rawValue: text) else {
                throw ValidationError("write xml, json, jsonl or csv")
            }
            return format
        })
    var format: BodyFormat?

    @Flag(name: .long, help: "Print a JSON object with the source's name and the block.")
    var json = false

    private struct Result: Encodable {
        var source: String
        var toml: String
    }

    func validate() throws {
        if location == nil, xsd == nil { throw ValidationError("name a document, or a schema with --xsd") }
        if root != nil, location != nil || xsd == nil {
            throw ValidationError("--root is for --xsd without a document: a document's root is known")
        }
        if xsd != nil, let format, format != .xml { throw ValidationError("--xsd is for documents in XML") }
    }

    func run(_ program: Program) async throws {
        do {
            let proposal =
                location == StandardInput.name
                ? try await StandardInput.asFile { try await self.proposal(program, of: $0) }
                : try await proposal(program, of: location)
            if json {
                try Terminal.printJSON(Result(source: proposal.sourceName, toml: proposal.toml))
            } else {
                try Terminal.write(Array(proposal.toml.utf8))
            }
        } catch let error as OutputError {
            throw error
        } catch {
            throw Failure.failed("\(location ?? xsd ?? ""): \(ErrorText.words(error))".withoutUserInfo)
        }
    }

    private func proposal(_ program: Program, of document: String?) async throws -> MappingProposal {
        let takenTables = program.parsers.tables
        guard let document else {
            return try await Inference(of: xsd ?? "").proposalOfSchema(
                root: root, name: name, takenTables: takenTables)
        }
        let parser = "SyndicationParser"
        // What standard input brings is at an address that has to be filled in.
        let isInput = location == StandardInput.name
        return try await Inference(
            of: document, format: format ?? (xsd == nil ? nil : .xml),
            address: isInput ? "https://example.com/\(name ?? "feed")" : nil
        ).proposal(
            name: isInput ? name ?? "feed" : name, takenTables: takenTables,
            syndicationParser: program.parsers.names.contains(parser) ? parser : nil, schema: xsd)
    }
}
