import FeedConfiguration
import FeedFetching
import FeedInferring
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
        /// A digest of the documents, and of what else their rows hold; nil if they are not compared.
        package var digest: String?
        var nextPage: String?
        /// The bytes of the documents of an archive, unpacked.
        var bytes = 0
    }

    /// Notes a response's head.
    func note(_ exchange: Exchange, _ index: Int) {
        run.note(exchange, index)
        noteProvenance(exchange)
    }

    /// Notes the origin of the response's rows. If servers at several addresses have answered, their rows may only name
    /// public addresses.
    func noteProvenance(_ exchange: Exchange) {
        guard let provenance = exchange.provenance("a row") else { return }
        rowProvenance = provenance.combined(with: rowProvenance ?? provenance)
    }

    /// Reads a response's body, then requests and reads the following pages.
    ///
    /// - Parameters:
    ///   - known: the digest of the last body, whose rows are in the store. An equal body is not parsed again. Nil for a request
    ///     that is always read.
    ///   - leavesOut: true if a first page that does not parse is an omitted item (``ItemRequests/Missing``).
    func takePages(
        _ first: Exchange, of request: RequestDeclaration, _ index: Int, _ context: ExchangeContext,
        known: String? = nil, leavesOut: Bool = false
    ) async throws -> ParsedBody {
        if request.forEach != nil { repetitions = Repetitions(of: request) }
        var request = request
        var exchange = first
        var total = ParsedBody()
        var pages = request.paging.map { PageSequence($0) }
        while true {
            let page = pages?.page ?? 1
            let body = try await onPage(page, of: request, index) {
                try await refuseUnlessAccepted(exchange, request)
                try await noteAttempt()
                return try await take(
                    exchange, of: request, index, context.clock, known: known,
                    isFirst: page == 1, tries: leavesOut && page == 1)
            }
            total.tables.formUnion(body.tables)
            total.records += body.records
            if run.source.isAlwaysRead(index) {
                let page = try body.digest.flatMap { try ParsedBody.digest(of: held(exchange, request) + [$0]) }
                total.digest = pages?.page ?? 1 == 1 ? page : ParsedBody.digest(of: [total.digest, page])
            } else {
                total.digest = body.digest
            }
            guard
                let next = try pages?.next(
                    after: request, exchange.response, records: body.records, found: body.nextPage)
            else {
                if request.forEach == nil, let paging = request.paging, FurtherPage.path(of: paging) != nil {
                    run.results[index].documents.pages = ReadPages(count: page, endsWithoutMark: body.nextPage == nil)
                }
                return total
            }
            request = next
            switch request.paging?.next {
            case .path(_, let written):
                request.provenance = exchange.provenance("'\(written)' of page \(page) of \(request.url)")
            case .link:
                request.provenance = exchange.provenance("the Link header of page \(page) of \(request.url)")
            case .token, .counter, nil: break
            }
            // A page after the first may be empty.
            request.allowsEmpty = true
            context.clock?.page = RunError.name(ofPage: page + 1, of: request, run.source.requests[index])
            exchange = try await onPage(page + 1, of: request, index) { try await fetchObeying(request, context) }
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
            "\(request.method) \(request.url)\(redirection(exchange, request)): "
                + StackDecision.refusal(status, of: request))
    }

    /// Returns the address that answered after redirects, for a message; empty without redirects.
    private func redirection(_ exchange: Exchange, _ request: RequestDeclaration) -> String {
        guard let sent = try? request.prepare() else { return "" }
        return exchange.redirection(of: sent, shown: exchange.response.baseURL)
    }

    private func fault(in exchange: Exchange) async throws -> SOAPFault? {
        do {
            let reader = try BodyReader(exchange.response, [], limit: 1 << 20)
            try await exchange.forEachPiece { try reader.read($0) }
            try reader.finish()
        } catch let error as SOAPFault {
            return error
        } catch {
            // The body has no SOAP fault, so the status is reported.
            try Task.checkCancellation()
        }
        return nil
    }

    /// Returns true if a request's documents are compared by digest: where a server is not asked whether they have changed,
    /// or does not answer that; and if the source can be undone, because validators may change without the body.
    ///
    /// A request that is always read is not compared if it appends rows, or if these have the time of the response: an equal
    /// answer is another observation.
    func isKnownByDigest(_ index: Int, _ validators: Validators) -> Bool {
        guard run.source.isAlwaysRead(index) else { return validators.isEmpty || run.source.keepsHistory }
        let request = run.source.requests[index]
        return request.content != .captures && !request.appends && !request.holdsTime
    }

    /// Returns what the rows of a response depend on beside its body. Of rows that several requests write, the last one
    /// counts.
    private func held(_ exchange: Exchange, _ request: RequestDeclaration) throws -> [String?] {
        let (response, facts) = (exchange.response, request.heldFacts)
        var held = run.source.requests.map(\.key)
        held += [response.documentContentType ?? "", try ParsedBody.digest(ofRows: [request.given])]
        // They may tell the format.
        held += [response.url, response.requestedURL].map(Self.suffix)
        if facts.contains(.url) || facts.contains(.member) { held.append(response.requestedURL) }
        if facts.contains(.lastModified) { held.append(response[header: "Last-Modified"] ?? "") }
        if case .parser = request.content { held.append(response.url) }
        return held
    }

    /// Returns what follows the last full stop in the path of an address; empty without one.
    private static func suffix(of address: String) -> String {
        let name = address.prefix { $0 != "?" && $0 != "#" }.split(separator: "/").last ?? ""
        return name.contains(".") ? String(name.split(separator: ".").last ?? "") : ""
    }

    /// - Parameters:
    ///   - isFirst: true for a first page that a server has sent.
    ///   - tries: true to read the whole body before its first record is staged.
    func take(
        _ exchange: Exchange, of request: RequestDeclaration, _ index: Int, _ clock: ExchangeClock?,
        known: String?, isFirst: Bool = false, tries: Bool = false
    ) async throws -> ParsedBody {
        if request.documents != nil, exchange.response.member == nil {
            return try await takeArchive(exchange, of: request, index, clock, known: known)
        }
        var spool = takeAwaited()
        if tries { spool = try await parsing(exchange, of: request, index, clock) }
        var digest: String?
        if let known, exchange.response.validators.isEmpty {
            let received = try await receiveWhole(exchange, of: request, index, clock)
            digest = received.digest
            if digest == known {
                run.results[index].report.bytes += received.body.count
                return ParsedBody(digest: digest)
            }
            spool = received.body
        }
        let nextPage = isFirst && looksForPages(request) ? NextPageWatch() : nil
        let context = try workerContext()
        try HandlerFactory(request: request, environment: environment).prepareStore(run.additions)
        let keeper = keepers[index]
        try keeper?.begin(keptBody(exchange, of: request, index))
        let captures = CaptureHandler(request.capturedPaths)
        let (reader, mapping) = try beginDocument(
            exchange.response, of: request, index, captures, nextPage: nextPage,
            digests: digest == nil && isKnownByDigest(index, exchange.response.validators), keeper: keeper)
        defer { run.results[index].report.bytes += reader.count }
        if let spool {
            try spool.forEachPiece { piece in
                try reader.read(piece)
                reportProgress(index, exchange, received: reader.received)
            }
        } else {
            try await receive(exchange, of: request, index, clock) { piece in
                try reader.read(piece)
                return reader.received
            }
        }
        try endDocument(reader, mapping, of: request, index)
        if let mapping, request.paging != nil || request.forEach != nil {
            let hasRecords = context.insertedRows + context.droppedRecords > 0
            run.results[index].documents.responses.note(
                mapping.pathsHash, mapping.elementPaths, hasRecords: hasRecords,
                address: environment.redacted("\(request.url)"))
        }
        try keeper?.end()
        if isFirst, notesUnused || request.content != .captures {
            try noteFurtherPage(
                in: exchange.response, of: request, index, nextPage, captures.values[request.captures.count])
        }
        for (position, capture) in request.captures.enumerated() {
            guard let value = captures.values[position], !value.isEmpty else { continue }
            run.captured[capture.name] = value
            captureBases[capture.name] = exchange.response.url
            provenances[capture.name] = exchange.provenance(
                "${capture:\(capture.name)}, of the response of request '\(request.key)',")
        }
        return ParsedBody(
            tables: context.tables(ofRequest: index).union(environment.registry.tables(of: request.content)),
            records: context.insertedRows + context.droppedRecords, digest: digest ?? reader.digest,
            nextPage: captures.values[request.captures.count])
    }

    /// Prepares to stage a document.
    ///
    /// - Parameters:
    ///   - captures: takes values of the document for later requests; nil for one of several documents.
    ///   - digests: true to compute the document's digest.
    ///   - keeper: receives the document, too.
    /// - Returns: the reader of the document, and the handler of a mapping.
    func beginDocument(
        _ response: FeedResponse, of request: RequestDeclaration, _ index: Int, _ captures: CaptureHandler? = nil,
        nextPage: NextPageWatch? = nil, digests: Bool = false, keeper: BodyKeeper? = nil
    ) throws -> (reader: BodyReader, mapping: MappingHandler?) {
        var factory = HandlerFactory(request: request, environment: environment)
        factory.notesUnused = notesUnused
        factory.expressions = expressions
        factory.nextPage = nextPage
        var response = response
        response.maxBody = request.maxBody
        response.source = run.source.name
        response.request = request.key
        response.isOnlyRequest = run.source.requests.count == 1
        let context = try workerContext()
        var handlers = try factory.makeHandlers(response, context: context, index: index)
        context.textLimit = request.maxBody
        let mapping = handlers.first as? MappingHandler
        if let captures, !request.capturedPaths.isEmpty { handlers.append(captures) }
        // The file of a kept body may be larger than the body.
        let isKept = run.kept != nil && response.member == nil
        let reader = try BodyReader(
            response, handlers, limit: isKept ? BodyFileWriter.longest(request.maxBody) : request.maxBody,
            dialect: request.dialect, repair: request.repair, digests: digests, keeper: keeper,
            folder: environment.store.workFolder)
        return (reader, mapping)
    }

    /// Ends the staging of a document, and notes what is said of it.
    func endDocument(
        _ reader: BodyReader, _ mapping: MappingHandler?, of request: RequestDeclaration, _ index: Int
    ) throws {
        try reader.finish()
        run.results[index].documents.repairs.merge(reader.repairs, uniquingKeysWith: +)
        if let mapping { note(mapping, of: request, index) }
    }

    /// Returns true if a first page is searched for the place of another one. That of a parser class is searched only
    /// where it is expected to name one, and a document that only gives captures is no list.
    private func looksForPages(_ request: RequestDeclaration) -> Bool {
        // A counter and the Link header lead to the next page without the body.
        if let paging = request.paging, FurtherPage.path(of: paging) == nil { return false }
        return switch request.content {
        case .mapping, .mirrored: true
        case .parser: notesUnused || request.paging != nil
        case .captures: notesUnused
        }
    }

    /// Notes a further page that a first page names, and that the request does not follow.
    ///
    /// - Parameter found: the value at the path of the next page's token or address; nil without that place.
    /// - Throws: ``StackError`` if the request would delete the rows of the pages that it does not find.
    private func noteFurtherPage(
        in response: FeedResponse, of request: RequestDeclaration, _ index: Int, _ watch: NextPageWatch?,
        _ found: String?
    ) throws {
        guard let page = FurtherPage(in: response, of: request, watch?.hint, found: found) else {
            if found == nil, let note = FurtherPage.noteOnFormat(of: request, response) { run.note(note, index) }
            return
        }
        // No deletion is decided on partial data.
        if page.isMissed, request.deletesRows { throw page.refusal(of: request) }
        run.note(page.note, index)
    }

    /// Notes the shape of a parsed document.
    private func note(_ handler: MappingHandler, of request: RequestDeclaration, _ index: Int) {
        if notesUnused { unmatched.note(handler, of: request) }
        if run.results[index].documents.shape == nil { run.results[index].documents.shape = DocumentShape() }
        run.results[index].documents.shape?.formUnion(handler.shape)
    }

    private func makeSpool(_ exchange: Exchange, _ request: RequestDeclaration) throws -> BodySpool {
        try BodySpool(
            exchange.response, folder: environment.store.workFolder, limit: request.maxBody,
            format: request.dialect.format)
    }

    /// Receives a body, and parses all of it without staging.
    ///
    /// - Throws: ``ItemRequests/Missing`` if it does not parse.
    private func parsing(
        _ exchange: Exchange, of request: RequestDeclaration, _ index: Int, _ clock: ExchangeClock?
    ) async throws -> BodySpool {
        let body = try await receiveWhole(exchange, of: request, index, clock).body
        do {
            try parse(body, of: exchange, request, [])
        } catch let error where error is XMLStreamError || error is DocumentError {
            throw ItemRequests.Missing(reason: error)
        }
        return body
    }

    /// Receives a body beside the store.
    func receiveWhole(
        _ exchange: Exchange, of request: RequestDeclaration, _ index: Int, _ clock: ExchangeClock?
    ) async throws -> (body: BodySpool, digest: String) {
        let body = try makeSpool(exchange, request)
        try await receive(exchange, of: request, index, clock) { piece in
            try body.append(piece)
            return body.received
        }
        return (body, try body.finish())
    }

    /// Parses a received body without staging.
    func parse(
        _ body: BodySpool, of exchange: Exchange, _ request: RequestDeclaration, _ handlers: [XMLStreamHandler]
    ) throws {
        let reader = try BodyReader(
            exchange.response, handlers, limit: request.maxBody, dialect: request.dialect, repair: request.repair,
            folder: environment.store.workFolder)
        try body.forEachPiece { try reader.read($0) }
        try reader.finish()
    }

    /// Returns the body of the awaited response, once.
    private func takeAwaited() -> BodySpool? {
        defer { awaited = nil }
        return awaited
    }

    /// The longest time for which a look at the tables holds that the run has had at its beginning.
    private static let timeOfLook = Duration.seconds(10)

    func workerContext() throws -> WorkerContext {
        if let context { return context }
        let age = run.lookedAt.map { min(environment.clock.uptime - $0, Self.timeOfLook) } ?? .zero
        try environment.store.renewTableInfos(of: run.source.usedTables, within: age)
        let context = environment.store.makeWorkerContext(source: run.source.name)
        context.rejected.prepare(requests: run.source.requests.map(\.key)) { [environment] in environment.redacted($0) }
        context.limitMemory { [permits] in permits.acquireRoom() }
        self.context = context
        stop.add(Stop.Work(end: context.interrupter))
        return context
    }
}

extension Refresh.ParsedBody {
    /// Returns a digest of several; nil if one is missing.
    static func digest(of parts: [String?]) -> String? {
        let known = parts.compactMap(\.self)
        return known.count == parts.count
            ? SHA256.digest(of: Data(known.joined(separator: "\n").utf8)).hexadecimal : nil
    }

    /// Returns a digest of the rows for which requests are sent.
    static func digest(ofRows rows: [[String: String?]]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return SHA256.digest(of: try encoder.encode(rows)).hexadecimal
    }
}

extension RequestDeclaration {
    /// True if rows have the time of their response, and not only that of the first one.
    fileprivate var holdsTime: Bool {
        content.mapping?.tables.contains { table in
            let used = (table.key + [expiry(of: table)?.column].compactMap(\.self)).map { $0.lowercased() }
            return table.columns.contains {
                $0.origin == .response(.fetchedAt)
                    && ($0.overwrites || table.hasExpressions || used.contains($0.name.lowercased()))
            }
        } ?? false
    }

    /// The facts about their response that rows may have.
    fileprivate var heldFacts: Set<ColumnMapping.Fact> {
        switch content {
        case .parser: [.url, .lastModified]
        case .mapping(let mapping):
            Set(
                mapping.tables.flatMap(\.columns).compactMap { column in
                    if case .response(let fact) = column.origin { fact } else { nil }
                })
        case .mirrored, .captures: []
        }
    }
}
