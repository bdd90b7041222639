import FeedModel
import Foundation
import Hummingbird
import TributaryEngine

/// What a document would become, for programs.
extension API {
    var trialOperations: [APIOperation] {
        guard let tryOut else { return [] }
        return [
            .post(
                "/api/try",
                "The tables that a document would become, their first rows, and the TOML that declares them.",
                [
                    .init("url", "The address of the document: http: or https:."),
                    .init("toml", "A source with one request, as in sources.toml; inferred without it."),
                ]
            ) { _, query in
                guard let url = query["url"] else { throw Query.Problem("name the document as ?url=ADDRESS") }
                return .json(try JSONOutput.line(try await tryOut(.address(url), query["toml"])))
            }
        ]
    }
}
