@testable import FeedConfiguration

@testable import FeedStaging
@testable import FeedStores
@testable import SQLiteStore
@testable import TributaryEngine

/// Documents through a set of requests, staged and thrown away: once whole and once in pieces, which must not matter.
final class DocumentTarget: FuzzTarget {
    private let store: FuzzStore
    private let requests: [RequestDeclaration]

    /// - Parameter sources: the requests, as `sources.toml` declares them.
    init(_ sources: FuzzSources) throws {
        store = try FuzzStore(sources.toml)
        requests = store.requests.filter(sources.isTried)
    }

    func run(_ input: [UInt8]) throws -> Bool {
        let size = 1 + Int(input.reduce(0 as UInt8) { $0 &* 31 &+ $1 })
        let isSOAP = input.starts(with: "<soap:".utf8)
        var isTaken = false
        for request in requests {
            let whole = try stage(input, request, pieceSize: nil, isSOAP)
            let pieces = try stage(input, request, pieceSize: size, isSOAP)
            guard whole.rows == pieces.rows, (whole.error == nil) == (pieces.error == nil) else {
                throw FuzzFinding(
                    "\(request.url): whole, the document gives \(whole); in pieces of \(size) bytes, \(pieces)")
            }
            isTaken = isTaken || whole.error == nil
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
