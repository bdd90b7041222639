import FeedConfiguration
import Foundation
import Testing

/// Each text of each example of the reference, and of its wrong values, with `${…}` in its place: every key is there.
@Suite(.timeLimit(.minutes(5))) struct ReplacedTextTests {
    /// A whole file with a text in quotes.
    private struct Place: CustomStringConvertible {
        var before: Substring
        /// Without its quotes.
        var text: String
        var after: Substring
        var page: String

        func file(with text: String) -> String { before + "\"\(text)\"" + after }

        var description: String { "\(page), '\(before.suffix(40))\"\(text)\"'" }
    }

    private static func places() throws -> [Place] {
        try ReferencePage.all().flatMap { page in
            let examples = page.file.blocks.filter { $0.language == "toml" }.map(\.text)
            let mistakes = (page.mistakes + page.keys.flatMap(\.mistakes)).map { $0.text + "\n" }
            return (examples + mistakes).flatMap { part in
                let file = ReferenceSandbox.file(around: part, of: page.header)
                // A text of several lines, or one in quotes; without those that have escapes or `${…}`.
                let texts = file.matches(of: /"""[\s\S]*?"""|"((?:[^"\\\n]|\\.)*)"/)
                return texts.compactMap { match -> Place? in
                    guard let text = match.1, !text.contains("\\"), !text.contains("$") else { return nil }
                    let (before, after) = (file[..<match.range.lowerBound], file[match.range.upperBound...])
                    // Neither a key, nor a name in a table's header.
                    let isKey = after.drop { $0 == " " }.first.map { "=.".contains($0) } ?? false
                    let line = before.reversed().prefix { $0 != "\n" }
                    return isKey || line.last == "["
                        ? nil
                        : Place(
                            before: before, text: String(text), after: after, page: page.file.path)
                }
            }
        }
    }

    /// What a file declares, or its mistakes, line by line in the order of the alphabet.
    private static func reading(
        _ text: String, in sandbox: ReferenceSandbox, values: [String: String] = [:]
    ) throws -> (redactor: Redactor?, lines: [String]) {
        do {
            var configuration = try sandbox.configuration(text, values: values)
            // Each byte of each form of a secret would be a line.
            let redactor = configuration.redactor
            configuration.redactor = Redactor()
            // Addresses in memory differ in any case, and digests are of the text as it is written.
            let lines = self.lines(of: configuration).filter { line in
                !["pointer", "question:", "rows: \"", "identity:", "derived:", "condition:"].contains {
                    line.contains($0)
                }
            }
            return (redactor, lines.sorted())
        } catch let error as ConfigurationError {
            return (nil, error.problems.map { "\($0.keyPath): \($0.message)" }.sorted())
        }
    }

    private static func lines(of value: Any) -> [String] {
        var lines = ""
        dump(value, to: &lines)
        return lines.split(separator: "\n").map(String.init)
    }

    /// Nothing depends on where a value comes from: neither requests and rows, nor what is secret, nor a mistake.
    @Test func aVariableIsAsItsValueWrittenOut() async throws {
        try await ReferenceSandbox.with { sandbox in
            let places = try Self.places()
            #expect(places.count > 500)
            for place in places {
                let written = try Self.reading(place.file(with: place.text), in: sandbox)
                var replaced = try Self.reading(place.file(with: "${X}"), in: sandbox, values: ["X": place.text])
                // Constants and conditions say that nothing is replaced in them.
                let mayRefuse = replaced.redactor == nil && replaced.lines.contains { $0.contains("${") }
                if mayRefuse, written.redactor != nil { continue }
                replaced.lines = replaced.lines.map { $0.replacing("${X}", with: place.text) }.sorted()
                #expect(replaced.redactor == written.redactor, "\(place): \(replaced.lines.prefix(3))")
                guard replaced.redactor != nil || !mayRefuse else { continue }
                let difference = Set(replaced.lines).symmetricDifference(written.lines)
                #expect(difference.isEmpty, "\(place): \(difference.prefix(4))")
            }
        }
    }

    /// In other keys nothing would replace it: it would be a part of names, paths and rows.
    @Test(arguments: ["now:yyyy", "row:id"])
    func whatARequestSendsIsRefusedElsewhere(reference: String) async throws {
        try await ReferenceSandbox.with { sandbox in
            for place in try Self.places() {
                do {
                    var configuration = try sandbox.configuration(place.file(with: "${\(reference)}"))
                    configuration.redactor = Redactor()
                    func marks(_ value: Any) -> Int { Self.lines(of: value).count { $0.contains("\\0\(reference)") } }
                    let sent = configuration.sources.flatMap(\.requests).map { request in
                        marks(request.url) + marks(request.headers) + marks(request.parameters)
                            + marks(request.body as Any) + marks(request.soap as Any) + marks(request.forEach as Any)
                    }
                    #expect(marks(configuration) == sent.reduce(0, +), "\(place)")
                } catch let error as ConfigurationError {
                    #expect(!"\(error)".contains("\0"), "\(place): \(error)")
                }
            }
        }
    }
}
