import FeedConfiguration
import FeedFetching
import FeedModel
import FeedParsing
import FeedStaging
import FeedStores
import Foundation

/// An archive in a file beside the store.
struct ReceivedArchive {
    /// The response, whose body has been read.
    let exchange: Exchange
    let spool: BodySpool
    /// SHA-256 of the archive, in hexadecimal digits.
    let digest: String
}

/// Reads bodies with several documents. Each is parsed separately; the request stages the rows of all.
extension Refresh {
    /// Reads an archive: receives it into a file beside the store, then parses the members that match, one after another.
    ///
    /// - Parameter known: the digest of the last archive, whose rows are in the store.
    func takeArchive(
        _ exchange: Exchange, of request: RequestDeclaration, _ index: Int, _ clock: ExchangeClock?,
        known: String?
    ) async throws -> ParsedBody {
        guard let pattern = request.documents else { return ParsedBody() }
        let limit = run.kept == nil ? request.maxBody : BodyFileWriter.longest(request.maxBody)
        let received = try await receiveArchive(exchange, of: request, index, clock, limit)
        let (spool, digest) = (received.spool, received.digest)
        clock?.isReading(spool.received)
        let validators = exchange.response.validators
        if digest == known, validators.isEmpty { return ParsedBody(digest: digest) }
        let keeper = keepers[index]
        try keeper?.begin(keptBody(exchange, of: request, index))
        if let keeper { try spool.forEachPiece { try keeper.append($0) } }
        try keeper?.end()
        let archive = try ArchiveReader(
            spool.archive(), pattern: pattern, single: Self.name(ofDocumentAt: exchange.response.requestedURL),
            limit: limit)
        var total = try begin(request, exchange.response, index)
        while let name = try archive.next() {
            let response = exchange.response.document(name)
            let body = try takeDocument(name, response, of: request, index) { reader in
                try archive.forEachPiece { try reader.read($0) }
            }
            total.add(body)
            // Compressed documents in the archive are unpacked again.
            guard total.bytes <= limit else { throw ArchiveReader.tooLarge(limit) }
            reportProgress(index, exchange, received: spool.received)
        }
        if let shortage = archive.shortage, !request.allowsEmpty { throw shortage }
        try checkDocuments(total, of: request)
        total.digest = isKnownByDigest(index, validators) ? digest : nil
        return total
    }

    /// Receives an archive; returns that of an equal request, if there is one.
    private func receiveArchive(
        _ exchange: Exchange, of request: RequestDeclaration, _ index: Int, _ clock: ExchangeClock?, _ limit: Int
    ) async throws -> ReceivedArchive {
        if let archive = archive(of: index) { return archive }
        let spool = try BodySpool(
            exchange.response, folder: environment.store.workFolder, limit: limit, isArchive: true)
        try await receive(exchange, of: request, index, clock) { piece in
            try spool.append(piece)
            return spool.received
        }
        let archive = ReceivedArchive(exchange: exchange, spool: spool, digest: try spool.finish())
        // The archive of a folder is only the form in which its files are read.
        run.results[index].report.bytes += exchange.isListing ? exchange.announcedBytes ?? spool.count : spool.count
        // The files of a folder are those that the request's own pattern matches.
        if run.kept == nil, !exchange.isListing, let key = run.archives.key(of: index) {
            archives[key] = archive
            run.archives.note(received: exchange, index)
        }
        return archive
    }

    /// Prepares the store for a request's documents. A request without any is staged as an empty one.
    private func begin(_ request: RequestDeclaration, _ response: FeedResponse, _ index: Int) throws -> ParsedBody {
        let factory = HandlerFactory(request: request, environment: environment)
        let context = try workerContext()
        try factory.prepareStore(run.additions)
        _ = try factory.makeHandlers(response, context: context, index: index)
        return ParsedBody(tables: Set(environment.registry.tables(of: request.content)))
    }

    /// - Throws: ``StackError`` if no document has a record.
    private func checkDocuments(_ body: ParsedBody, of request: RequestDeclaration) throws {
        guard case .mapping = request.content, body.records == 0, !request.allowsEmpty else { return }
        throw StackError(
            "\(request.url): none of the documents held a record; correct the mapping, or set allow_empty = true if that "
                + "is valid")
    }

    /// Parses one document of several.
    ///
    /// - Parameter read: passes the document to its reader.
    /// - Throws: the errors of parsing and of `read`, with the document's name.
    private func takeDocument(
        _ name: String, _ response: FeedResponse, of request: RequestDeclaration, _ index: Int,
        _ read: (BodyReader) throws -> Void
    ) throws -> ParsedBody {
        var request = request
        // One of several may be empty; the check for records covers all of them together.
        request.allowsEmpty = true
        let context = try workerContext()
        context.documentKeys =
            run.results[index].documents.listing?.notesKeys == true ? DocumentKeys(most: ListedDocuments.most) : nil
        defer { context.documentKeys = nil }
        var bytes = 0
        do {
            let (reader, mapping) = try beginDocument(response, of: request, index)
            try read(reader)
            try endDocument(reader, mapping, of: request, index)
            bytes = reader.count
            run.results[index].documents.listing?.note(context.documentKeys?.hashes)
        } catch {
            throw RunError.inDocument(name, of: request, error)
        }
        return ParsedBody(
            tables: context.tables(ofRequest: index), records: context.insertedRows + context.droppedRecords,
            bytes: bytes)
    }

    /// Returns the name of a compressed document without an archive: the name of its file, without the suffix of the
    /// compression.
    static func name(ofDocumentAt address: String) -> String {
        let path = address.prefix { $0 != "?" && $0 != "#" }
        var name = path.split(separator: "/").last.map(String.init) ?? ""
        for suffix in [".gz", ".bz2", ".xz", ".lzma", ".zst"] where name.lowercased().hasSuffix(suffix) {
            name.removeLast(suffix.count)
        }
        return name.isEmpty ? "document" : name
    }
}

extension Refresh.ParsedBody {
    /// Adds the results of another document of the same body.
    fileprivate mutating func add(_ other: Self) {
        tables.formUnion(other.tables)
        records += other.records
        bytes += other.bytes
    }
}

extension FeedResponse {
    /// Returns the head of a response with only this document, without the response's content coding.
    fileprivate func document(_ name: String) -> FeedResponse {
        var response = self
        response.member = name
        response.headers.removeAll {
            ["content-type", "content-length", "content-encoding"].contains($0.name.lowercased())
        }
        return response
    }
}
