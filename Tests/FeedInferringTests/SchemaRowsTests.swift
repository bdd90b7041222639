import FeedInferring
import FeedModel
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
import XMLStream

@testable import TributaryEngine

/// What `infer --xsd` proposes loads every value of a document of the schema, into either store.
@Suite(.onEachStore) struct SchemaRowsTests {
    /// The texts and attributes of a document, but for those that only describe it.
    private final class Values: XMLStreamHandler {
        var found: Set<String> = []

        override func didStartElement(in stream: XMLStreamParser) throws {
            for (_, value) in stream.attributesOfElement.all { found.insert(value) }
        }

        override func didEndElement(in stream: XMLStreamParser) throws {
            let text = String(decoding: trimmed(stream.textBytes), as: UTF8.self)
            if !text.isEmpty { found.insert(text) }
        }
    }

    @Test(arguments: SchemaSample.all) func everyValueIsInARow(sample: SchemaSample) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/feed", sample.sample)
            for (name, text) in sample.documents { fixture.server.document("/x/\(name)", text) }
            let schema = fixture.server.url + "/x/" + sample.documents[0].name

            let ofSchema = try await Inference(of: schema).proposalOfSchema(
                root: nil, .init(name: "s", takenTables: ["item"])
            ).toml
            for part in sample.proposed { #expect(ofSchema.contains(part), "\(part)\nin\n\(ofSchema)") }
            try await load(ofSchema.replacing("https://example.com/s.xml", with: "URL/feed"), sample, fixture)
        }
    }

    @Test(arguments: SchemaSample.all) func everyValueIsInARowOfASample(sample: SchemaSample) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/feed", sample.sample)
            for (name, text) in sample.documents { fixture.server.document("/x/\(name)", text) }
            let schema = fixture.server.url + "/x/" + sample.documents[0].name

            let toml = try await Inference(of: fixture.server.url + "/feed").proposal(
                .init(name: "s", takenTables: ["item"]), schema: schema
            ).toml
            try await load(toml.replacing(fixture.server.url, with: "URL"), sample, fixture)
        }
    }

    private func load(_ toml: String, _ sample: SchemaSample, _ fixture: EngineFixture) async throws {
        let report = try #require(try await fixture.sync(toml, mode: .full).first)
        #expect(report.error == nil && report.counts.replaced == 0 && report.skipped == 0, "\(report)\n\(toml)")
        let again = try #require(try await fixture.sync(toml, mode: .full).first)
        #expect(again.counts == MergeCounts(unchanged: report.counts.inserted), "\(again)\n\(toml)")

        let tables = Set(toml.matches(of: /(?m)^table = "(.*)"$/).map { String($0.output.1) })
        let rows = try tables.flatMap { try fixture.rows("SELECT * FROM \"\($0)\"") }
        let texts = rows.flatMap { $0.split(separator: "|").map(String.init) }
        let stored = Set(texts.map(plain))
        let values = Values()
        let parser = XMLStreamParser(handler: values)
        try Array(sample.sample.utf8).withUnsafeBytes { try parser.parse($0) }
        try parser.finish()
        let missing = values.found.filter { value in
            !stored.contains(plain(value)) && !texts.contains { $0.contains("<") && $0.contains(value) }
                && !value.split(separator: "  ").allSatisfy { part in texts.contains { $0.contains(part) } }
        }
        #expect(missing.isEmpty, "\(missing)\nof\n\(rows.joined(separator: "\n"))\n\(toml)")
    }

    /// A value, the same however a store writes it.
    private func plain(_ text: String) -> String {
        var bytes = Array(text.replacing(" ", with: "T").utf8)
        if ["true", "t"].contains(text) { return "1.0" }
        return bytes.withUnsafeMutableBufferPointer { buffer in
            let bytes = UnsafeBufferPointer(buffer)
            if let number = Lexical.double(bytes) { return "\(number)" }
            return Lexical.date(bytes).map { "\($0.timeIntervalSince1970)" } ?? text
        }
    }
}
