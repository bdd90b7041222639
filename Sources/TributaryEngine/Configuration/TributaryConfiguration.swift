public import Foundation

/// What `sources.toml` declares.
public struct TributaryConfiguration: Sendable, Equatable {
    /// The file it was read from.
    public var file: String
    /// The main store's file, absolute.
    public var storePath: String
    /// The file of idempotent SQL that is run when the store is opened, absolute.
    public var schemaPath: String?
    /// How long runs, and their part of the journal, are remembered.
    public var history: Duration
    /// Runs at the same time.
    public var concurrency: Int
    /// Requests at the same time to one host.
    public var perHost: Int
    /// In the order of their names.
    public var sources: [SourceDeclaration] { sourcesByName.values.sorted { $0.name < $1.name } }
    private var sourcesByName: [String: SourceDeclaration]
    /// Of encrypted columns; 32 bytes.
    var encryptionKey: [UInt8]?
    public var redactor: Redactor

    public var enabledSources: [SourceDeclaration] { sources.filter(\.isEnabled) }

    public subscript(source name: String) -> SourceDeclaration? { sourcesByName[name] }

    /// A message about one of the file's keys, `FILE: KEY: …`, with the line on which the key stands.
    package func locating(_ message: String) -> String {
        let start = file + ": "
        guard message.hasPrefix(start),
            let end = message.range(
                of: ": ", range: message.index(message.startIndex, offsetBy: start.count)..<message.endIndex),
            let text = FileManager.default.contents(atPath: file).flatMap({ String(data: $0, encoding: .utf8) }),
            let line = TOMLLineIndex(text).line(of: String(message[..<end.lowerBound].dropFirst(start.count)))
        else { return message }
        return "\(file):\(line): " + message.dropFirst(start.count)
    }

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - parsers: the registered parsers, any of which a request may name.
    ///   - environment: what `${NAME}` is replaced from.
    /// - Throws: ``ConfigurationError`` with every mistake in the file.
    public init(
        file: String, parsers: ParserRegistry, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        guard let data = FileManager.default.contents(atPath: file) else {
            let why = FileManager.default.fileExists(atPath: file) ? "cannot be read" : "does not exist"
            throw ConfigurationError(problems: [.init(file: file, message: "the file \(why)")])
        }
        guard let text = String(data: data, encoding: .utf8) else {
            throw ConfigurationError(problems: [.init(file: file, message: "the file is not UTF-8 text")])
        }
        self = try ConfigurationReader(file: file, text: text, parsers: parsers, environment: environment).read()
    }

    init(
        file: String, storePath: String, schemaPath: String?, history: Duration, concurrency: Int, perHost: Int,
        sources: [SourceDeclaration], encryptionKey: [UInt8]?, redactor: Redactor
    ) {
        self.file = file
        self.storePath = storePath
        self.schemaPath = schemaPath
        self.history = history
        self.concurrency = concurrency
        self.perHost = perHost
        sourcesByName = Dictionary(uniqueKeysWithValues: sources.map { ($0.name, $0) })
        self.encryptionKey = encryptionKey
        self.redactor = redactor
    }

    /// The SQL of the schema file.
    ///
    /// - Throws: ``ConfigurationError`` where it cannot be read.
    package func schema() throws -> String? {
        guard let schemaPath else { return nil }
        let problem: String
        do throws(RegularFile.Problem) {
            if let sql = String(data: try RegularFile.contents(of: schemaPath), encoding: .utf8) { return sql }
            problem = "is not UTF-8 text"
        } catch {
            problem = error.description
        }
        throw ConfigurationError(
            problems: [.init(file: file, keyPath: "store.schema", message: "the file \(schemaPath) \(problem)")])
    }
}
