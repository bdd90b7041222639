public import Foundation
import TOML

/// What `sources.toml` declares.
public struct TributaryConfiguration: Sendable, Equatable {
    /// The file it was read from.
    public var file: String
    /// The main store's file, absolute.
    public var storePath: String
    /// The file of idempotent SQL that is run when the store is opened, absolute.
    public var schemaPath: String?
    /// The file of idempotent SQL that is run when the tables of all mappings are there, absolute.
    public var schemaAfterPath: String?
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

    /// Whether another store, or another schema of it, is declared.
    func differsInStore(from other: TributaryConfiguration) -> Bool {
        storePath != other.storePath || schemaPath != other.schemaPath || schemaAfterPath != other.schemaAfterPath
    }

    public subscript(source name: String) -> SourceDeclaration? { sourcesByName[name] }

    /// Messages about the file's keys, `FILE: KEY: …`, with the lines on which the keys stand.
    package func locating(_ messages: [String]) -> [String] {
        let start = file + ": "
        guard messages.contains(where: { $0.hasPrefix(start) }), let bytes = try? ConfigurationFile.read(file),
            let document = try? TOMLParser.parse(bytes)
        else { return messages }
        return messages.map { message in
            guard message.hasPrefix(start) else { return message }
            let message = message.dropFirst(start.count)
            guard let line = document.line(of: TOMLKeyPath.read(from: message).path) else { return start + message }
            return "\(file):\(line): " + message
        }
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
        let bytes: [UInt8]
        do {
            bytes = try ConfigurationFile.read(file)
        } catch {
            throw ConfigurationError(problems: [.init(file: file, message: "the file \(error.message)")])
        }
        self = try ConfigurationReader(file: file, bytes: bytes, parsers: parsers, environment: environment).read()
    }

    init(
        file: String, storePath: String, schemaPath: String?, schemaAfterPath: String?, history: Duration,
        concurrency: Int, perHost: Int,
        sources: [SourceDeclaration], encryptionKey: [UInt8]?, redactor: Redactor
    ) {
        self.file = file
        self.storePath = storePath
        self.schemaPath = schemaPath
        self.schemaAfterPath = schemaAfterPath
        self.history = history
        self.concurrency = concurrency
        self.perHost = perHost
        sourcesByName = Dictionary(uniqueKeysWithValues: sources.map { ($0.name, $0.identified) })
        self.encryptionKey = encryptionKey
        self.redactor = redactor
    }

    /// The SQL of the schema file.
    ///
    /// - Throws: ``ConfigurationError`` where it cannot be read.
    package func schema() throws -> String? { try sql(of: schemaPath, "store.schema") }

    /// The SQL that follows when the tables of all mappings are there.
    ///
    /// - Throws: ``ConfigurationError`` where it cannot be read.
    package func schemaAfter() throws -> String? { try sql(of: schemaAfterPath, "store.schema_after") }

    private func sql(of path: String?, _ keyPath: String) throws -> String? {
        guard let path else { return nil }
        let why: String
        do {
            if let sql = try ConfigurationFile.text(named: path) { return sql }
            why = "is not UTF-8 text"
        } catch {
            why = error.message
        }
        throw ConfigurationError(problems: [.init(file: file, keyPath: keyPath, message: "the file \(path) \(why)")])
    }
}
