@testable import FeedStore
@testable import TributaryEngine

/// Documents through a set of requests, staged and thrown away: once whole and once in pieces, which must not matter.
final class DocumentTarget: FuzzTarget {
    private let store: FuzzStore
    private let requests: [RequestDeclaration]

    /// - Parameter sources: the requests, as `sources.toml` declares them.
    init(_ sources: FuzzSources) throws {
        store = try FuzzStore(sources.toml)
        requests = store.requests
    }

    func run(_ input: [UInt8]) throws -> Bool {
        var isTaken = false
        let size = 1 + Int(input.reduce(0 as UInt8, &+))
        for request in requests {
            for isSOAP in [false, true] {
                let whole = try stage(input, request, pieceSize: nil, isSOAP)
                let pieces = try stage(input, request, pieceSize: size, isSOAP)
                isTaken = isTaken || whole.error == nil
                guard whole.rows == pieces.rows, (whole.error == nil) == (pieces.error == nil) else {
                    throw FuzzFinding(
                        "\(request.url): whole, the document gives \(whole); in pieces of \(size) bytes, \(pieces)")
                }
                // Without an envelope the two are the same.
                if whole.error == nil { break }
            }
        }
        return isTaken
    }

    private func stage(_ input: [UInt8], _ request: RequestDeclaration, pieceSize: Int?, _ isSOAP: Bool) throws
        -> (rows: Int?, error: String?)
    {
        let context = store.store.makeWorkerContext(source: "fuzz")
        defer { context.remove() }
        var rows: Int?
        let error = try refusal {
            rows = try store.stage(
                input, of: request, in: context, pieceSize: pieceSize, response: FuzzStore.response(isSOAP: isSOAP))
        }
        return (rows, error.map { "\($0)" })
    }
}
