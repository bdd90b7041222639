import FeedModel
import Foundation
import Logging
@testable import FeedConfiguration
@testable import FeedFetching
@testable import FeedStaging
@testable import FeedStores
@testable import SQLiteStore
@testable import TributaryEngine

/// A store in a folder of its own, and requests that are answered with the bytes of inputs. Nothing is sent.
final class FuzzStore {
    /// A body may be as large.
    static let bodyLimit = 256 << 10

    /// What a body of a size may bring into memory and into the store, whatever multiplies it; what fits into one batch
    /// is little enough.
    static func budget(_ size: Int) -> Int { max(WorkerContext.batchCapacity, 16 * size) }

    private let folder: FuzzFolder
    let environment: RunEnvironment
    let store: SQLiteStore

    /// - Parameter sources: what stands in `sources.toml` besides `[store]`.
    init(_ sources: String) throws {
        folder = try FuzzFolder()
        let key = String(repeating: "5a", count: 32)
        let text = "[store]\npath = \"store.sqlite\"\nencryption_key = \"\(key)\"\n" + sources
        let configuration = try folder.configuration(text.utf8)
        store = try SQLiteStore(path: configuration.localPath)
        environment = RunEnvironment(
            configuration: configuration, store: store,
            registry: FuzzFolder.registry, http: HTTPFetcher(now: { .distantPast }), hosts: HostGate(limit: 1),
            slots: Slots(limit: 1), clock: SystemClock(),
            logger: Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() }, executor: EngineExecutor(SystemThreads()))
        for source in configuration.sources {
            for request in source.requests {
                try HandlerFactory(request: request, environment: environment).prepareStore(AdditionLog())
            }
        }
    }

    deinit { try? store.close() }

    var requests: [RequestDeclaration] { environment.configuration.sources.flatMap(\.requests) }

    /// Parses a body as a run does.
    ///
    /// - Parameter pieceSize: how much of it arrives at a time; nil for all.
    /// - Returns: rows staged.
    /// - Throws: what a run would be discarded for, and ``FuzzFinding`` where too much has been staged.
    @discardableResult
    func stage(
        _ body: [UInt8], of request: RequestDeclaration, at index: Int = 0, in context: WorkerContext,
        pieceSize: Int?, response: FeedResponse = FuzzStore.response()
    ) throws -> Int {
        let factory = HandlerFactory(request: request, environment: environment)
        var response = response
        response.maxBody = request.maxBody
        let handlers = try factory.makeHandlers(response, context: context, index: index)
        context.textLimit = request.maxBody
        let reader = try BodyReader(response, handlers, limit: request.maxBody)
        defer { withExtendedLifetime(handlers) {} }
        try forEachPiece(of: body, size: pieceSize) { try reader.read($0) }
        try reader.finish()
        // What no longer fits into memory has gone to a scratch database.
        let written = context.database == nil ? 0 : WorkerContext.batchCapacity + 1
        let bytes = max(written, context.stagings.reduce(context.endedBytes) { $0 + $1.count })
        guard bytes <= Self.budget(body.count) else {
            throw FuzzFinding("\(body.count) bytes have become \(bytes) bytes of staged rows")
        }
        return context.insertedRows
    }

    /// A response's head. The time never moves.
    static func response(_ headers: [(name: String, value: String)] = [], isSOAP: Bool = false) -> FeedResponse {
        var response = FeedResponse(
            requestedURL: "http://feeds.test/feed", url: "http://feeds.test/feed", status: 200, headers: headers,
            fetchedAt: Date(timeIntervalSince1970: 1_800_000_000), validators: Validators())
        response.isSOAP = isSOAP
        return response
    }
}
