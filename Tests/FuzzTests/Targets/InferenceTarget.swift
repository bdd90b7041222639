import Foundation
@testable import FeedInferring
@testable import FeedParsing
@testable import TributaryEngine
@testable import XMLStream

/// Documents through `infer`: what it proposes must be a valid configuration.
final class InferenceTarget: FuzzTarget {
    private let folder: FuzzFolder

    init() throws { folder = try FuzzFolder() }

    func run(_ input: [UInt8]) throws -> Bool {
        var proposal: MappingProposal?
        _ = try refusal {
            let response = FuzzStore.response()
            proposal = try MappingProposal(url: "http://feeds.test/feed", takenTables: ["feed"]) { handler in
                let reader = try BodyReader(response, [handler], limit: FuzzStore.bodyLimit)
                try forEachPiece(of: input, size: nil) { try reader.read($0) }
                try reader.finish()
            }
        }
        guard let proposal else { return false }
        guard proposal.toml.utf8.count <= FuzzStore.budget(input.count) else {
            throw FuzzFinding("\(input.count) bytes have become a proposal of \(proposal.toml.utf8.count)")
        }
        do {
            _ = try folder.configuration(proposal.toml.utf8)
        } catch {
            throw FuzzFinding("the proposal is no valid configuration: \(error)\n\(proposal.toml)")
        }
        return true
    }
}
