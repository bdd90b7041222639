import FeedDeclarations
import FeedFetching
import FeedModel
import FeedParsing
import FeedStaging
import FeedStores
import Foundation
import Metrics
import XMLStream

/// Reads the bodies of responses: parses them into the worker context as they arrive, page after page.
extension Refresh {
    /// The results of parsed bodies.
    struct ParsedBody: Sendable {
        package var tables: Set<String> = []
        var records = 0
        package var digest: String?
        var nextPage: String?
    }

    /// Takes a response's head into account, whatever becomes of its body.
    func note(_ exchange: Exchange, _ index: Int) {
        run.note(exchange, index)
        noteLead(exchange)
    }

    /// Takes into account what rows of the response may lead to: where servers at several addresses have answered, none
    /// that is not public.
    func noteLead(_ exchange: Exchange) {
        guard let lead = exchange.lead("a row") else { return }
        rowLead = lead.combined(with: rowLead ?? lead)
    }

    /// Reads a response's body, then requests and reads the pages that follow.
    ///
    /// - Parameter known: the digest of last time's body, whose rows are in the store. The same body is not parsed
    ///   again.
    func takePages(
        _ first: Exchange, of request: RequestDeclaration, _ index: Int, known: String? = nil
    ) async throws -> ParsedBody {
        var request = request
        var exchange = first
        var total = ParsedBody()
        var page = 1
        while true {
            let body = try await onPage(page, of: request, index) {
                try await refuseUnlessAccepted(exchange, request)
                return try await take(exchange, of: request, index, known: known)
            }
            total.tables.formUnion(body.tables)
            total.records += body.records
            total.digest = body.digest
            guard
                let next = try request.paging?.page(
                    after: page, of: request, at: exchange.response.url, records: body.records, address: body.nextPage)
            else { return total }
            page += 1
            request = next
            if case .path(_, let written)? = request.paging?.next {
                request.lead = exchange.lead("'\(written)' of page \(page - 1) of \(request.url)")
            }
            // A page after the first may be empty.
            request.allowsEmpty = true
            ExchangeProgress.current?.page = RunError.name(
                ofPage: page, of: request, run.source.requests[index])
            exchange = try await onPage(page, of: request, index) { try await environment.fetch(request) }
            note(exchange, index)
        }
    }

    /// - Throws: the errors of `body`, with the page's name.
    private func onPage<Value>(
        _ page: Int, of request: RequestDeclaration, _ index: Int, _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch {
            throw RunError.onPage(page, of: request, run.source.requests[index], error)
        }
    }

    func refuseUnlessAccepted(_ exchange: Exchange, _ request: RequestDeclaration) async throws {
        let status = exchange.response.status
        guard !request.acceptStatus.contains(status) else { return }
        // A fault comes with 500 or 400 (SOAP 1.1, section 6.2; SOAP 1.2 Part 2, section 7.5.2.2). It says more than
        // the status.
        if request.soap != nil, let fault = try await fault(in: exchange) { throw fault }
        throw FetchError(
            [500, 502, 504].contains(status) ? .overloaded : .status,
            "\(request.method) \(request.url): \(StackDecision.refusal(status))")
    }

    private func fault(in exchange: Exchange) async throws -> SOAPFault? {
        let parser = StreamBodyParser(XMLStreamHandler(), exchange.response)
        do {
            let reader = try BodyReader(exchange.response, parser: parser, limit: 1 << 20)
            try await exchange.forEachPiece { try reader.read($0) }
            try reader.finish()
        } catch let error as SOAPFault {
            return error
        } catch {
            // The body is of no use, so the status is reported.
            try Task.checkCancellation()
        }
        return nil
    }

    /// Returns true where a body is known again by its digest: where there are no validators, and where its rows may be
    /// brought back, as validators may change without the body.
    func isKnownByDigest(_ request: RequestDeclaration, _ validators: Validators) -> Bool {
        !request.isUnconditional && (validators.isEmpty || run.source.keepsHistory)
    }

    func take(
        _ exchange: Exchange, of request: RequestDeclaration, _ index: Int, known: String?
    ) async throws -> ParsedBody {
        var spool: BodySpool?
        var digest: String?
        if let known, exchange.response.validators.isEmpty, !request.isUnconditional {
            let body = try BodySpool(
                exchange.response, folder: environment.store.workFolder, limit: request.maxBody)
            try await receive(exchange, of: request, index) { piece in
                try body.append(piece)
                return body.received
            }
            digest = try body.finish()
            if digest == known {
                run.results[index].report.bytes += body.count
                return ParsedBody(digest: digest)
            }
            spool = body
        }
        var factory = BodyParserFactory(request: request, environment: environment)
        factory.notesUnused = notesUnused
        let context = try workerContext()
        try factory.prepareStore()
        var response = exchange.response
        response.maxBody = request.maxBody
        response.source = run.source.name
        response.request = request.key
        response.isOnlyRequest = run.source.requests.count == 1
        let keeper = keepers[index]
        try keeper?.begin(keptBody(exchange, of: request, index))
        var parser = try factory.makeParser(response, context: context, index: index)
        context.textLimit = request.maxBody
        let mapped = parser as? MappingBodyParser
        let captures = CaptureHandler(request.capturedPaths)
        if !request.capturedPaths.isEmpty {
            parser = TeeBodyParser(parser, StreamBodyParser(captures, response))
        }
        let digests = digest == nil && isKnownByDigest(request, exchange.response.validators)
        // A small body may be larger in its file, which is held to the limit, too.
        let limit = run.kept == nil ? request.maxBody : BodyFileWriter.longest(request.maxBody)
        let reader = try BodyReader(
            exchange.response, parser: parser, limit: limit, digests: digests, keeper: keeper)
        defer { run.results[index].report.bytes += reader.count }
        if let spool {
            try spool.forEachPiece { piece in
                try reader.read(piece)
                tellProgress(index, exchange, received: reader.received)
            }
        } else {
            try await receive(exchange, of: request, index) { piece in
                try reader.read(piece)
                return reader.received
            }
        }
        try reader.finish()
        try keeper?.end()
        if notesUnused, let mapped {
            unmatched.note(mapped.handler, of: request.key)
        }
        for (position, capture) in request.captures.enumerated() {
            guard let value = captures.values[position] else { continue }
            run.captured[capture.name] = value
            leads[capture.name] = exchange.lead(
                "${capture:\(capture.name)}, of the response of request '\(request.key)',")
        }
        return ParsedBody(
            tables: context.tables(ofRequest: index).union(environment.registry.tables(of: request.content)),
            records: context.insertedRows + context.droppedRecords, digest: digest ?? reader.digest,
            nextPage: captures.values[request.captures.count])
    }

    /// - Parameter take: takes a piece of the body, and returns the bytes received so far.
    private func receive(
        _ exchange: Exchange, of request: RequestDeclaration, _ index: Int,
        _ take: (UnsafeRawBufferPointer) throws -> Int
    ) async throws {
        let progress = ExchangeProgress.current
        progress?.hasReceived(0)
        // A kept body comes from no server.
        let counter = run.kept == nil ? environment.metrics.received(of: run.source.name) : nil
        var received = 0
        do {
            try await exchange.forEachPiece { piece in
                progress?.hasReceived(received + piece.count)
                counter?.increment(by: piece.count)
                permits.received(piece.count)
                received = try take(piece)
                tellProgress(index, exchange, received: received)
            }
        } catch {
            throw FetchError.reading(error, request: request)
        }
    }

    private func tellProgress(_ index: Int, _ exchange: Exchange, received: Int) {
        environment.onProgress(
            RunProgress(
                source: run.source.name, request: run.source.requests[index].key, requestNumber: index + 1,
                requestCount: run.source.requests.count, bytes: received, totalBytes: exchange.announcedBytes,
                rows: context?.insertedRows ?? 0))
    }

    func workerContext() throws -> WorkerContext {
        if let context { return context }
        try environment.store.renewTableInfos(of: run.source.usedTables)
        let context = environment.store.makeWorkerContext(source: run.source.name)
        self.context = context
        interruption.onRequest(context.interrupter)
        return context
    }
}
