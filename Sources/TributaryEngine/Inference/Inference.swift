package import FeedConfiguration
import FeedFetching
package import FeedInferring
import FeedModel
import FeedParsing
import FeedStaging
import FeedStores
import Foundation
import XMLStream

/// Fetches a document and proposes a mapping for it.
///
/// An actor on its own queue, because reading the document blocks the queue's thread.
package actor Inference {
    private let url: String
    /// The address in the proposal.
    private let address: String
    private let credentials: GivenCredentials
    /// The format that was given, or that the first lines show, and the dialect of a document in CSV.
    private var dialect: BodyDialect
    private var isGuessedEncoding = false
    /// The most bytes of the document; nil for the default of `max_body`, or for no limit of a file.
    private let limit: Int?
    private let clock: any RunClock
    private let http: HTTPFetcher
    private let executor: RunExecutor

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - location: an `http:`, `https:` or `file:` URL, or the path of a file.
    ///   - dialect: the document's format and how it is written, as far as it is known. CSV without an encoding has that of
    ///     the response, UTF-8 or ``usualEncoding``.
    ///   - address: the address in the proposal; nil for that of the document.
    ///   - credentials: what else the request for the document sends. An XML Schema is requested without it.
    ///   - limit: the most bytes of the document, decompressed; nil for the default of `max_body`, or for no limit of a
    ///     file.
    package init(
        of location: String, dialect: BodyDialect = BodyDialect(), address: String? = nil,
        credentials: GivenCredentials = GivenCredentials(), limit: Int? = nil, clock: any RunClock = SystemClock()
    ) {
        self.dialect = dialect
        self.limit = limit
        self.credentials = credentials
        self.clock = clock
        executor = RunExecutor(label: "tributary.infer", SystemThreads())
        url = Self.url(location)
        self.address = address ?? url
        http = HTTPFetcher(now: { [clock] in clock.now() })
    }

    private static func url(_ location: String) -> String {
        let isURL = ["http://", "https://", "file:/", "s3://", "sftp://", "ftps://", "ftp://"].contains {
            location.lowercased().hasPrefix($0)
        }
        return isURL ? location : URL(fileURLWithPath: location).absoluteURL.absoluteString
    }

    /// The inputs of a proposal other than the document.
    package struct Surroundings: Sendable {
        /// The source's name; nil to derive it from the URL.
        package var name: String?
        /// The names of the parsers' tables.
        package var takenTables: Set<String>
        /// The names of the tables that other sources write.
        package var writtenTables: Set<String>
        /// The names of the other sources.
        package var sources: Set<String> = []
        /// Sentences for the proposal's first lines.
        package var remarks: [String] = []
        /// The built-in parsers that may be proposed instead of a mapping, with their tables.
        package var parsers: [String: [String]]

        package init(
            name: String? = nil, takenTables: Set<String> = [], writtenTables: Set<String> = [],
            parsers: [String: [String]] = [:]
        ) {
            self.name = name
            self.takenTables = takenTables
            self.writtenTables = writtenTables
            self.parsers = parsers
        }
    }

    /// - Parameter schema: the address of the document's XML Schema; nil for none.
    /// - Throws: the errors of fetching and reading the document and the schema; ``FetchError`` after ``timeLimit``.
    package func proposal(_ surroundings: Surroundings, schema: String? = nil) async throws -> MappingProposal {
        try await untilShutdown(reading: [url] + (schema.map { [$0] } ?? [])) {
            try await self.proposal(surroundings, by: schema)
        }.noting(surroundings.remarks)
    }

    /// Proposes a mapping for every document of the schema at the address.
    ///
    /// - Parameter root: the local name of the root element; nil for the only one possible.
    package func proposalOfSchema(root: String?, _ surroundings: Surroundings) async throws -> MappingProposal {
        try await untilShutdown(reading: [url]) {
            try await self.proposalOfSchema(namedRoot: root, surroundings)
        }.noting(surroundings.remarks)
    }

    private func proposalOfSchema(
        namedRoot root: String?, _ surroundings: Surroundings
    ) async throws -> MappingProposal {
        let draft = try MappingDraft(schema: try await schema(url), root: root)
        let name = surroundings.name ?? SourceName.make(of: url)
        return MappingProposal(
            draft, url: "https://example.com/\(name).xml", sourceName: name,
            takenTables: surroundings.takenTables, writtenTables: surroundings.writtenTables)
    }

    /// The time limit of a proposal that reads a document of a server.
    private static let timeLimit = Duration.seconds(300)

    /// Runs a body, within the time limit unless it reads only files, and closes the connections.
    private func untilShutdown(
        reading locations: [String], _ body: @escaping @Sendable () async throws -> MappingProposal
    ) async throws -> MappingProposal {
        let tooSlow = FetchError(
            .timeout,
            "GET \(url): the document was not read within \(Self.timeLimit.secondsText); download it, and give the file"
        )
        let isOfServer = locations.contains { !Self.url($0).lowercased().hasPrefix("file:") }
        let result: Result<MappingProposal, any Error>
        do {
            let proposal =
                isOfServer
                ? try await withTimeLimit(Self.timeLimit, by: clock, timeout: tooSlow, body) : try await body()
            result = .success(proposal)
        } catch {
            result = .failure(error)
        }
        try await http.shutdown()
        return try result.get()
    }

    private func schema(_ location: String) async throws -> SchemaSet {
        var left = SchemaLoader.mostBytes
        guard let url = URL(string: Self.url(location)) else {
            throw FetchError(.address, "'\(location)' is no address")
        }
        return try await SchemaLoader.load(url) { url, provenance, document in
            var request = Self.request(url.absoluteString, limit: left)
            request.provenance = provenance
            let exchange = try await fetch(request)
            let reader = try BodyReader(exchange.response, [document], limit: left, dialect: BodyDialect(format: .xml))
            try await exchange.forEachPiece { try reader.read($0) }
            try reader.finish()
            left -= reader.count
            return exchange
        }
    }

    static func request(_ url: String, limit: Int) -> RequestDeclaration {
        RequestDeclaration(
            key: "infer", url: InterpolatedText(url), timeout: .seconds(300),
            transport: Transport(connectTimeout: .seconds(10)), maxBody: limit, content: .mirrored)
    }

    /// The encoding of CSV that is not UTF-8 and names none: that of spreadsheets in the west.
    private static let usualEncoding = "windows-1252"

    private func proposal(_ surroundings: Surroundings, by location: String?) async throws -> MappingProposal {
        var schema: SchemaSet?
        if let location { schema = try await self.schema(location) }
        do {
            return try await attempt(surroundings, schema)
        } catch let error as DocumentError where error.isEncoding && dialect.csv.encoding == nil {
            dialect.csv.encoding = Self.usualEncoding
            isGuessedEncoding = true
            do {
                return try await attempt(surroundings, schema)
            } catch let second as DocumentError where second.isEncoding {
                throw error
            }
        }
    }

    /// Reads the document from its beginning, and proposes a mapping.
    private func attempt(_ surroundings: Surroundings, _ schema: SchemaSet?) async throws -> MappingProposal {
        let name = surroundings.name
        let isOfFile = url.lowercased().hasPrefix("file:")
        var request = Self.request(url, limit: limit ?? (isOfFile ? .max : RequestDeclaration.defaultMaxBody))
        credentials.add(to: &request)
        let profile = DocumentProfile()
        let subscriptions = SubscriptionList()
        let nextPage = NextPageWatch()
        let exchange = try await fetch(request)
        let response = exchange.response
        // A file can be read again.
        let isFile = exchange.origin.isFile
        let spool =
            try isFile
            ? nil
            : BodySpool(
                response, folder: NSTemporaryDirectory(), limit: request.maxBody, format: dialect.format)
        do {
            try await read(exchange, request, [profile, subscriptions, nextPage], spool)
        } catch let error as FetchError where error.isTooLarge {
            throw FetchError(
                .tooLarge,
                "GET \(url): the document is larger than \(ByteSize.text(request.maxBody)), decompressed; give a file with "
                    + "a part of it")
        }
        if dialect.csv.encoding != nil, dialect.format ?? DocumentFormat.format(of: response) != .csv {
            throw InferenceError(description: "an encoding is given for CSV, and the document is none")
        }
        if schema == nil {
            let feeds = "SyndicationParser"
            if surroundings.parsers[feeds] != nil,
                let toml = subscriptions.toml(parser: feeds, taken: surroundings.sources)
            {
                return MappingProposal(sourceName: name ?? SourceName.make(of: url), toml: toml, isList: true)
            }
            if let known = KnownFormat(profile), let tables = surroundings.parsers[known.parser] {
                return known.proposal(
                    url: address, sourceName: name, tables: tables, credentials: credentials)
            }
        }
        if let root = profile.root, root.name.local == ProtobufSchema.rootName { root.declareFloats(of: .gtfsRealtime) }
        let draft = try MappingDraft(profile: profile, schema: schema)
        try await readAgain(request, response, spool, draft.counter())
        return MappingProposal(
            draft, url: address, sourceName: name, takenTables: surroundings.takenTables,
            writtenTables: surroundings.writtenTables, options: options(response), credentials: credentials,
            nextPage: nextPage.hint)
    }

    /// Reads the document again: from the spool, or by fetching it again.
    private func readAgain(
        _ request: RequestDeclaration, _ response: FeedResponse, _ spool: BodySpool?, _ counter: RecordCounter
    ) async throws {
        guard let spool else {
            return try await read(try await fetch(request), request, [counter], nil)
        }
        let reader = try makeReader(response, [counter], request)
        try spool.forEachPiece { try reader.read($0) }
        try reader.finish()
    }

    /// Returns the keys of a request for the document's format.
    private func options(_ response: FeedResponse) -> [String] {
        guard let format = dialect.format ?? DocumentFormat.format(of: response), format != .xml, format != .json else {
            return []
        }
        let delimiter = dialect.csv.delimiter.map {
            $0 == UInt8(ascii: "\t") ? "\\t" : String(Character(Unicode.Scalar($0)))
        }
        var lines = ["format = \"\(format.rawValue)\""]
        let csv = [("delimiter", delimiter), ("encoding", dialect.csv.encoding)].compactMap { key, value in
            value.map { "\(key) = \"\($0)\"" }
        }
        if isGuessedEncoding, let encoding = dialect.csv.encoding {
            lines.append(
                "# The bytes are not valid UTF-8, and are read as \(encoding); write another encoding if letters are wrong."
            )
        }
        let workbook = [
            ("sheet", dialect.xlsx.sheet.map { TOMLText.quoted($0.replacing("${", with: "$${")) }),
            ("skip", dialect.xlsx.skip == 0 ? nil : String(dialect.xlsx.skip)),
        ].compactMap { key, value in value.map { "\(key) = \($0)" } }
        if !workbook.isEmpty { lines.append("xlsx = { \(workbook.joined(separator: ", ")) }") }
        if !csv.isEmpty { lines.append("csv = { \(csv.joined(separator: ", ")) }") }
        return lines
    }

    private func fetch(_ request: RequestDeclaration) async throws -> Exchange {
        let prepared = try request.prepare()
        return try await Self.fetch(request, prepared, http.fetcher(for: prepared.target))
    }

    /// - Throws: ``FetchError``, also for an answer without a document.
    static func fetch(
        _ request: RequestDeclaration, _ prepared: PreparedRequest, _ fetcher: any Fetcher,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> Exchange {
        let exchange = try await fetcher.fetch(prepared, ExchangeContext(), validators: Validators(), movedTo: nil)
        guard exchange.response.status == 200 else {
            let redirection = exchange.redirection(of: prepared, shown: exchange.response.addressWithoutUser)
            throw FetchError(
                .status,
                "GET \(request.url.value)\(redirection): "
                    + StackDecision.refusalOfDocument(exchange.response.status))
        }
        return exchange
    }

    private func read(
        _ exchange: Exchange, _ request: RequestDeclaration, _ handlers: [XMLStreamHandler], _ spool: BodySpool?
    ) async throws {
        let reader = try makeReader(exchange.response, handlers, request)
        try await exchange.forEachPiece { piece in
            try reader.read(piece)
            try spool?.append(piece)
        }
        try reader.finish()
        if let guess = reader.guess {
            dialect.format = guess.format
            dialect.csv.delimiter = guess.delimiter
        }
    }

    private func makeReader(
        _ response: FeedResponse, _ handlers: [XMLStreamHandler], _ request: RequestDeclaration
    ) throws -> BodyReader {
        try BodyReader(
            response, dialect.format == .html ? [PageTables(handlers)] : handlers, limit: request.maxBody,
            dialect: dialect,
            guesses: true)
    }
}
