import FeedDeclarations
import FeedFetching
package import FeedInferring
import FeedModel
import FeedParsing
import FeedStaging
import FeedStores
import Foundation

/// Fetches a document and proposes a mapping for it.
///
/// An actor on a queue of its own: reading the document blocks that queue's thread only.
package actor Inference {
    private let url: String
    private let executor = RunExecutor(label: "tributary.infer")

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameter location: an `http:`, `https:` or `file:` URL, or the path of a file.
    package init(of location: String) {
        let isURL = ["http://", "https://", "file:/"].contains { location.lowercased().hasPrefix($0) }
        url = isURL ? location : URL(fileURLWithPath: location).absoluteURL.absoluteString
    }

    /// - Parameters:
    ///   - name: the source's name; nil for one made of the URL.
    ///   - takenTables: the names of the store's other tables.
    ///   - syndicationParser: the parser for the feeds of an OPML document; nil if there is none.
    /// - Throws: the errors of fetching and reading the document.
    package func proposal(
        name: String?, takenTables: Set<String>, syndicationParser: String? = nil
    ) async throws -> MappingProposal {
        let request = RequestDeclaration(
            key: "infer", url: InterpolatedText(url), method: "GET", headers: RequestDeclaration.defaultHeaders,
            parameters: [:],
            body: nil, timeout: .seconds(300), transport: Transport(connectTimeout: .seconds(10)), maxBody: .max,
            content: .mirrored, contentFingerprint: "",
            sync: .upsert, scope: [:], allowsEmpty: false)
        let isFile = url.lowercased().hasPrefix("file:")
        let http = HTTPFetcher(now: { Date() })
        let profile = DocumentProfile()
        let subscriptions = SubscriptionList()
        let draft: MappingDraft
        do {
            let fetcher: any Fetcher = isFile ? FileFetcher(now: { Date() }) : http
            let exchange = try await fetch(request, with: fetcher)
            let response = exchange.response
            // A file can be read again.
            let spool = try isFile ? nil : BodySpool(response, folder: NSTemporaryDirectory(), limit: request.maxBody)
            try await read(
                exchange, request,
                TeeBodyParser(StreamBodyParser(profile, response), StreamBodyParser(subscriptions, response)), spool)
            if let syndicationParser, let toml = subscriptions.toml(parser: syndicationParser) {
                try await http.shutdown()
                return MappingProposal(sourceName: name ?? SourceName.make(of: url), toml: toml)
            }
            draft = try MappingDraft(profile: profile)
            let counter = StreamBodyParser(draft.counter(), response)
            if let spool {
                let reader = try BodyReader(response, parser: counter, limit: request.maxBody)
                try spool.forEachPiece { try reader.read($0) }
                try reader.finish()
            } else {
                try await read(try await fetch(request, with: fetcher), request, counter, nil)
            }
        } catch {
            try await http.shutdown()
            throw error
        }
        try await http.shutdown()
        return MappingProposal(draft, url: url, sourceName: name, takenTables: takenTables)
    }

    private func fetch(_ request: RequestDeclaration, with fetcher: any Fetcher) async throws -> Exchange {
        let exchange = try await fetcher.fetch(request, validators: Validators(), movedTo: nil)
        guard exchange.response.status == 200 else {
            throw FetchError(.status, "GET \(url): \(StackDecision.refusal(exchange.response.status))")
        }
        return exchange
    }

    private func read(
        _ exchange: Exchange, _ request: RequestDeclaration, _ parser: any BodyParser, _ spool: BodySpool?
    ) async throws {
        let reader = try BodyReader(exchange.response, parser: parser, limit: request.maxBody)
        try await exchange.forEachPiece { piece in
            try reader.read(piece)
            try spool?.append(piece)
        }
        try reader.finish()
    }
}
