import FeedInferring
import TestSupport
import Testing

@testable import TributaryEngine

/// What a schema's documents may name, and what becomes of a document that cannot be read.
@Suite struct SchemaLoaderTests {
    private static let root =
        "<xs:element name='r'><xs:complexType><xs:attribute name='x'/></xs:complexType></xs:element>"

    private func schema(_ body: String, before: String = "") -> String {
        "\(before)<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'>\(body)\(Self.root)</xs:schema>"
    }

    /// Proposes tables for a schema `s.xsd` that a server has.
    private func proposal(_ text: String) async throws -> String {
        try await withStubServer { server in
            server.document("/s.xsd", text)
            return try await Inference(of: server.url + "/s.xsd").proposalOfSchema(
                root: "r", .init(name: "s")
            ).toml
        }
    }

    @Test func anImportThatIsNotThereOrLeadsIntoAPrivateNetworkIsNoted() async throws {
        let toml = try await proposal(
            schema(
                """
                <xs:import namespace='urn:a' schemaLocation='absent.xsd'/><xs:import namespace='urn:b' schemaLocation='http://169.254.169.254/b.xsd'/>
                <xs:import namespace='urn:c' schemaLocation='http://10.0.0.1/c.xsd'/>
                """))
        #expect(toml.contains("/absent.xsd was not read"), "\(toml)")
        for address in ["169.254.169.254:80 (link-local", "10.0.0.1:80 (private"] {
            #expect(toml.contains("the schema s.xsd leads to http://\(address)"), "\(toml)")
        }
        #expect(toml.contains("x = \"@x\""), "\(toml)")
    }

    @Test func anIncludeThatIsNotThereAndAFileAreErrors() async throws {
        await #expect { try await proposal(schema("<xs:include schemaLocation='absent.xsd'/>")) } throws: {
            "\($0)".contains("s.xsd includes http") && "\($0)".contains("404")
        }
        await #expect {
            try await proposal(schema("<xs:import namespace='urn:a' schemaLocation='file:///etc/passwd'/>"))
        } throws: {
            "\($0)".contains("names the file /etc/passwd, which is refused")
        }
    }

    @Test func documentsThatIncludeOneAnotherAreReadOnce() async throws {
        #expect(
            try await proposal(schema("<xs:include schemaLocation='s.xsd'/><xs:include schemaLocation='./s.xsd'/>"))
                .contains("x = \"@x\""))
    }

    @Test func entitiesThatExpandAreRefused() async throws {
        let entities = (1..<10).map { "<!ENTITY e\($0) '\(String(repeating: "&e\($0 - 1);", count: 10))'>" }
        let bomb = "<!DOCTYPE s [<!ENTITY e0 'aaaaaaaaaa'>\(entities.joined())]>"
        await #expect {
            try await proposal(
                schema("<xs:annotation><xs:documentation>&e9;</xs:documentation></xs:annotation>", before: bomb))
        } throws: {
            "\($0)".contains("entity")
        }
    }
}
