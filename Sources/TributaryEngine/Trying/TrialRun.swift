import FeedConfiguration
import FeedFetching
import FeedInferring
package import FeedModel
import FeedParsing
package import FeedStores
import Foundation
import XMLStream

extension SyncService {
    /// The timeout of one trial, including the download.
    private static let tryingTime = Duration.seconds(60)

    /// Fetches a document and returns its rows, in a temporary store. One document is tried at a time.
    ///
    /// - Parameters:
    ///   - toml: the declaration of the source; nil to infer one.
    ///   - makeStore: creates a store in a file.
    /// - Throws: ``Refusal`` during another trial, or after the timeout; `CancellationError`.
    package func tryOut(
        _ subject: Trial.Subject, by toml: String?,
        makeStore: @escaping @Sendable (_ path: String, _ schema: String) throws -> any MainStore
    ) async throws -> Trial {
        guard trying.acquire() else {
            throw Refusal("another document is being tried; try again in a moment", isBusy: true)
        }
        defer { trying.release() }
        let run = TrialRun(subject, toml, environment.with(configuration), makeStore)
        let tooSlow = Refusal("the trial took longer than \(Self.tryingTime.components.seconds) s and was cancelled")
        return try await withTimeLimit(Self.tryingTime, by: environment.clock, timeout: tooSlow, run.trial)
    }
}

/// Runs one trial, on its own queue.
private actor TrialRun {
    private let subject: Trial.Subject
    private let toml: String?
    private let environment: RunEnvironment
    private let makeStore: @Sendable (String, String) throws -> any MainStore
    private let executor: RunExecutor

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(
        _ subject: Trial.Subject, _ toml: String?, _ environment: RunEnvironment,
        _ makeStore: @escaping @Sendable (String, String) throws -> any MainStore
    ) {
        self.subject = subject
        self.toml = toml
        self.environment = environment
        self.makeStore = makeStore
        executor = environment.serialExecutor("try")
    }

    /// - Throws: `CancellationError`. Any other error is in the trial.
    func trial() async throws -> Trial {
        var trial = Trial(toml: toml ?? "")
        do {
            let folder = try Self.makeFolder()
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let document = folder + "/document"
            let format = try await write(to: document)
            let reasons = try await infer(document, format, &trial)
            guard trial.notes.isEmpty else { return trial }
            try await plan(document, folder, &trial)
            for index in trial.tables.indices { trial.tables[index].reason = reasons[trial.tables[index].table] }
        } catch let error as ConfigurationError {
            trial.problems = error.problems.map { environment.shown("\($0)") }
        } catch {
            try Task.checkCancellation()
            trial.problems = [environment.shown(ErrorText.words(error))]
        }
        return trial
    }

    /// Creates a folder that only this user can enter (mkdtemp(3)).
    private static func makeFolder() throws -> String {
        let parent = FileManager.default.temporaryDirectory.path
        var template = Array("\(parent)/tributary-try-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw StoreError(
                .unavailable, "no folder can be created in \(parent): \(String(cString: strerror(errno)))")
        }
        return template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    // MARK: - The document

    /// Writes the document to a file, decompressed; markup of a known charset in UTF-8.
    ///
    /// - Returns: the format from the media type or the first character; nil for XML and JSON.
    private func write(to file: String) async throws -> BodyFormat? {
        var bytes: Data
        let charset: String?
        let format: BodyFormat?
        switch subject {
        case .document(let text):
            bytes = Data(text.utf8)
            charset = "UTF-8"
            let first = text.first { !$0.isWhitespace && $0 != "\u{FEFF}" }
            format = first.map { "<{[".contains($0) } ?? true ? nil : .csv
        case .address(let address):
            let response: FeedResponse
            (response, bytes) = try await download(address)
            charset = response.charset
            format = DocumentFormat.format(of: response)
        }
        if let charset, format == nil { bytes = try Self.inUTF8(charset, bytes) }
        try bytes.write(to: URL(fileURLWithPath: file))
        return format
    }

    /// The timeout of a download, with its body.
    private static let downloadTime = Duration.seconds(30)

    private func download(_ address: String) async throws -> (FeedResponse, Data) {
        let tooSlow = FetchError(
            .timeout, "\(address): the response did not end within \(Self.downloadTime.components.seconds) s")
        return try await withTimeLimit(Self.downloadTime, by: environment.clock, timeout: tooSlow) {
            try await self.fetch(address)
        }
    }

    private func fetch(_ address: String) async throws -> (FeedResponse, Data) {
        guard ["http://", "https://"].contains(where: { address.lowercased().hasPrefix($0) }) else {
            throw FetchError(.address, "'\(address)' is no address; write one that begins with http:// or https://")
        }
        var request = Inference.request(address, limit: Trial.mostBytes)
        request.timeout = Self.downloadTime
        request.allowsPrivate = environment.configuration.allowsPrivate
        request.provenance = .unknown("the given address")
        request.provenance?.advice = "only public addresses are tried; allow_private = true in [defaults] allows others"
        environment.http.begin([request])
        defer { environment.http.end([request]) }
        let exchange = try await Inference.fetch(request, try request.prepare(), environment.http)
        let decoder = try BodyDecoder(
            contentEncoding: exchange.response[header: "Content-Encoding"], limit: Trial.mostBytes,
            opensArchives: !DocumentFormat.isArchive(exchange.response, declared: declaredFormat))
        var bytes = Data()
        try await exchange.forEachPiece { piece in try decoder.decode(piece) { bytes.append(contentsOf: $0) } }
        try decoder.finish { bytes.append(contentsOf: $0) }
        return (exchange.response, bytes)
    }

    /// The format that a given declaration names; nil without one. A declaration with mistakes is reported later.
    private var declaredFormat: BodyFormat? {
        guard let toml else { return nil }
        let configuration = try? TributaryConfiguration(trying: toml, store: "", parsers: environment.registry)
        return configuration?.sources.first?.requests.first?.dialect.format
    }

    /// Returns markup in UTF-8, each character in its line and column: the file has no media type that would name its
    /// charset (RFC 7303, section 3). A byte order mark counts more than what the document declares.
    private static func inUTF8(_ charset: String, _ bytes: Data) throws -> Data {
        guard bytes.first(where: { !isXMLSpace($0) }) == UInt8(ascii: "<") else { return bytes }
        var text = Data("\u{FEFF}".utf8)
        try bytes.withUnsafeBytes { buffer in
            let bytes = buffer.bindMemory(to: UInt8.self)
            let (decoder, _) = try TextDecoder.make(encoding: charset, start: bytes)
            try decoder.decode(bytes) { text.append($0) }
            try decoder.finish { text.append($0) }
        }
        return text
    }

    // MARK: - The rows

    /// Infers the declaration, if none is given.
    ///
    /// - Returns: the reasons for each table.
    private func infer(_ document: String, _ format: BodyFormat?, _ trial: inout Trial) async throws -> [String: String]
    {
        guard toml == nil else { return [:] }
        var (address, name): (String, String?) = ("https://example.com/feed", "feed")
        if case .address(let given) = subject { (address, name) = (given, nil) }
        let registry = environment.registry
        let own = name ?? SourceName.make(of: address)
        // The document may be compressed twice, and a character of UTF-8 may have three bytes where it had one.
        let proposal = try await Inference(
            of: document, dialect: BodyDialect(format: format), address: address, limit: 3 * Trial.mostBytes
        ).proposal(
            Inference.Surroundings(
                name: name, takenTables: registry.tables,
                writtenTables: environment.configuration.mappedTables(except: own),
                parsers: Dictionary(registry.names.map { ($0, registry.tables(of: .parser($0))) }) { first, _ in first }
            ))
        trial.toml = proposal.toml
        if proposal.isList {
            trial.notes = ["The document is a list of feeds; each is a source. Try the address of one to see its rows."]
        }
        return Dictionary(proposal.reasons.map { ($0.table, $0.text) }) { first, _ in first }
    }

    /// Adds the rows that a first run would insert into an empty store.
    private func plan(_ document: String, _ folder: String, _ trial: inout Trial) async throws {
        let path = folder + "/store.sqlite"
        let configuration = try TributaryConfiguration(trying: trial.toml, store: path, parsers: environment.registry)
        let store = try makeStore(path, "")
        defer { try? store.close() }
        var environment = environment.with(configuration)
        environment.store = store
        environment.slots = Slots(limit: 1)
        environment.activeRuns = ActiveRuns()
        environment.metrics = .none
        environment.onProgress = { _ in }
        environment.ownership = nil
        environment.recordWindow = nil
        for source in configuration.sources {
            let found = Mutex(trial)
            let file = URL(fileURLWithPath: document).absoluteString
            let plan = try await StackRun(source, in: environment, mode: .force).plan(
                bodies: Dictionary(source.requests.map { ($0.key, file) }) { first, _ in first }
            ) { change in
                found.withLock { $0.add(change) }
            }
            trial = found.withLock(\.self)
            trial.skipped = plan.skipped
            trial.unmapped = plan.elements.map { Trial.Unmapped(path: $0.path, count: $0.count) }
            trial.empty = plan.columns.map(\.path)
            trial.notes += plan.notes
            if plan.skipped > 0 {
                let reasons = plan.skipReasons.joined(separator: "; ")
                trial.notes.append("\(Figures.count(plan.skipped, "record")) would be skipped: \(reasons).")
            }
            if trial.tables.isEmpty { trial.notes.append("No record of the document matches an 'element'.") }
        }
    }
}

extension TributaryConfiguration {
    /// Returns the names of the tables that the mappings of all sources but one write.
    fileprivate func mappedTables(except name: String) -> Set<String> {
        sources.filter { $0.name != name }.flatMap(\.requests).reduce(into: []) { names, request in
            if case .mapping(let mapping) = request.content { names.formUnion(mapping.tables.map(\.table)) }
        }
    }
}

/// The rows of a document by a declaration, and the unmapped parts.
package struct Trial: Sendable, Encodable {
    /// The input of a trial.
    package enum Subject: Sendable {
        /// An `http:` or `https:` address.
        case address(String)
        /// A document.
        case document(String)
    }

    package struct Table: Sendable, Encodable {
        package var table: String
        /// The number of its records, and the reason for its key, if the declaration was inferred.
        package var reason: String?
        package var key: [String] = []
        package var columns: [String] = []
        package var count = 0
        /// The first rows, each with a value for every column.
        package var rows: [[StoredValue]] = []
    }

    package struct Unmapped: Sendable, Encodable {
        package var path: String
        package var count: Int
    }

    /// The most shown rows of a table.
    package static let mostRows = 20
    /// The most bytes of a document, decompressed.
    package static let mostBytes = 8 << 20

    /// The declaration as a block of `sources.toml`; empty if none could be inferred.
    package var toml: String
    package var tables: [Table] = []
    /// Unmapped elements and attributes.
    package var unmapped: [Unmapped] = []
    /// The paths of columns without a value.
    package var empty: [String] = []
    package var skipped = 0
    package var notes: [String] = []
    /// The errors of a trial without rows; empty otherwise.
    package var problems: [String] = []

    package init(toml: String) { self.toml = toml }

    mutating func add(_ change: PlannedChange) {
        let index = tables.firstIndex { $0.table == change.table } ?? tables.endIndex
        if index == tables.endIndex { tables.append(Table(table: change.table)) }
        tables[index].key = change.key
        tables[index].columns = change.row.map(\.column)
        tables[index].count += 1
        if tables[index].rows.count < Self.mostRows { tables[index].rows.append(change.row.map(\.value)) }
    }
}
