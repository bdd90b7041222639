import ArgumentParser
import FeedDeclarations
import FeedFetching
import FeedInferring
import FeedParsing
import Foundation
import TributaryEngine

struct InferCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "infer", abstract: "Propose a mapping for a document in XML, JSON or CSV.",
        discussion: """
            Reads the document as a stream, whatever its length, and prints a block of sources.toml that loads every repeated \
            record: what is a row, its key, its columns and their types, and the tables below it; of an OPML document, a \
            source for each of its feeds. Add it to your \
            sources.toml, change what you know better, and try it with `check` and `plan`.

            Example:
              tributary infer https://www.example.com/feed.xml >> sources.toml
            """)

    @OptionGroup var options: GlobalOptions

    @Argument(help: ArgumentHelp("The document: a file, or an http:, https: or file: URL.", valueName: "file|url"))
    var location: String

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

    func run(_ program: Program) async throws {
        do {
            let parser = "SyndicationParser"
            let proposal = try await Inference(of: location, format: format).proposal(
                name: name, takenTables: program.parsers.tables,
                syndicationParser: program.parsers.names.contains(parser) ? parser : nil)
            if json {
                try Terminal.printJSON(Result(source: proposal.sourceName, toml: proposal.toml))
            } else {
                try Terminal.write(Array(proposal.toml.utf8))
            }
        } catch let error as OutputError {
            throw error
        } catch {
            throw Failure.failed("\(location): \(ErrorText.words(error))".withoutUserInfo)
        }
    }
}
