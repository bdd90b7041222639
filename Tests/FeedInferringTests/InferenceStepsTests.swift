import Foundation
import Testing
@testable import FeedInferring

/// Proposals for documents that are deep, wide, or full of like names take steps in proportion to their size: these
/// documents took minutes and more before.
@Suite struct InferenceStepsTests {
    private func proposal(_ text: String) throws -> MappingProposal {
        try MappingProposal(of: text, url: "file:///d.xml")
    }

    private func nested(_ depth: Int, _ open: (Int) -> String, _ close: (Int) -> String) -> String {
        (0..<depth).map(open).joined() + (0..<depth).reversed().map(close).joined()
    }

    @Test(.timeLimit(.minutes(10))) func aDeepDocumentOfDifferentNames() throws {
        // Each level is a table in a table: there are two of it.
        let text = nested(400, { "<level\($0) id='\($0)'/><level\($0) id='x\($0)'>" }, { "</level\($0)>" })
        #expect(try proposal("<d>" + text + "</d>").toml.contains("level399"))
    }

    @Test(.timeLimit(.minutes(10))) func aDeepDocumentOfSingleElements() throws {
        let text = nested(900, { "<level\($0) a='1'>" }, { "</level\($0)>" })
        #expect(try proposal("<d>" + text + text + "</d>").toml.contains("level899"))
    }

    @Test(.timeLimit(.minutes(10))) func elementsOfOneNameWithinOneAnother() throws {
        let text = nested(900, { "<a id='\($0)'>" }, { _ in "</a>" })
        let toml = try proposal("<d>" + text + text + "</d>").toml
        #expect(
            toml.contains("element = \"a\"") && toml.components(separatedBy: "[[").count == 3, "\(toml.prefix(500))")
    }

    @Test(.timeLimit(.minutes(10))) func manyGroupsOfLevels() throws {
        let groups = (0..<3000).map { "<g\($0) a='1'><g\($0) a='2'/><g\($0) a='3'/></g\($0)>" }.joined()
        #expect(try proposal("<d>" + groups + "</d>").toml.contains("element = \"g2999\""))
    }

    @Test(.timeLimit(.minutes(10))) func manyNamesThatBecomeTheSame() throws {
        let children = (0..<1500).map {
            "<x\(String(repeating: "_", count: $0 % 50 + 1))\(String(repeating: "-", count: $0 / 50)) a='1'/>"
        }
        let text = "<r>" + children.joined() + "</r>"
        #expect(try proposal("<d>" + text + text + "</d>").toml.contains("x_a_1500"))
    }

    @Test(.timeLimit(.minutes(10))) func manyNamespacesOfOneName() throws {
        let children = (0..<1500).map { "<x xmlns='urn:\($0)'>\($0)</x>" }.joined()
        let text = "<r>" + children + "</r>"
        #expect(try proposal("<d>" + String(repeating: text, count: 3) + "</d>").toml.contains("urn:1499"))
    }
}
