package import FeedModel
import Foundation
import XMLStream

/// The declarations of `sources.toml`.
public struct TributaryConfiguration: Sendable, Equatable {
    /// The file from which it was read.
    public var file: String
    /// The files of the sources and hooks that stand in others than ``file``.
    var included = IncludedTables()
    public var store: StoreLocation
    /// The absolute path of the folder of scratch files and of messages between commands and the daemon, for a store
    /// on a server.
    package var workFolder: String
    /// The absolute path of the folder of kept bodies, beside the store. Trials on a copy of the store use the same
    /// folder.
    package var bodyFolder: String
    /// The absolute path of the idempotent SQL that is run when the store is opened.
    public var schemaPath: String?
    /// The absolute path of the idempotent SQL that is run once the tables of all mappings exist.
    public var schemaAfterPath: String?
    /// The time for which runs, and their part of the changelog, are kept.
    public var history = standard.history
    /// The most connections to a store on a server, apart from one that listens and one that renews leases.
    public var connections = standard.connections
    /// The most runs at the same time.
    public var concurrency = standard.concurrency
    /// The most requests at the same time to one host.
    public var perHost = standard.perHost
    /// False if no metric is labelled with a source.
    public var metricsPerSource = true
    /// How many requests a host gets, and how often.
    public internal(set) var hosts = HostRules(perHost: standard.perHost)
    /// The sources, in the order of their names.
    public internal(set) var sources: [SourceDeclaration]
    private var positions: [String: Int]
    /// The requests that look up rows of a table whose changes concern them, by the table's name in lower case.
    package private(set) var lookups: [String: [RowLookup]]
    /// The columns that mark rows of the mapped tables as deleted, by the tables' names in lower case.
    package private(set) var deletionMarks: [String: String]
    /// The receivers of events, in the order of their names.
    public var hooks: [HookDeclaration] = []
    /// The address of the page; nil without one.
    package var web: WebDeclaration?
    /// The address of a listener for health checks alone; nil for none.
    package var health: ListenAddress?
    /// The key of encrypted columns; 32 bytes.
    package var encryptionKey: EncryptionKey?
    public var redactor = Redactor()
    /// True where `[defaults]` lets responses lead to addresses that are not public.
    package var allowsPrivate = false

    /// The values of missing keys.
    static let standard = (history: Duration.seconds(90 * 86_400), connections: 16, concurrency: 8, perHost: 2)

    /// The path to whose end the names of files on this machine are added.
    package var localPath: String { store.path ?? workFolder + "/tributary" }

    /// The error of a command that needs a store.
    package var noStore: String {
        "there is no store \(store.path ?? "in the database") yet; run `tributary sync` first"
    }

    public var enabledSources: [SourceDeclaration] { sources.filter(\.isEnabled) }

    /// Returns true if another store, or another schema for it, is declared.
    package func differsInStore(from other: TributaryConfiguration) -> Bool {
        store != other.store || workFolder != other.workFolder || schemaPath != other.schemaPath
            || schemaAfterPath != other.schemaAfterPath || connections != other.connections
    }

    public subscript(source name: String) -> SourceDeclaration? { positions[name].map { sources[$0] } }

    init(file: String, store: StoreLocation, workFolder: String, sources: [SourceDeclaration] = []) {
        self.file = file
        self.store = store
        self.workFolder = workFolder
        (self.sources, positions) = Self.ordered(sources)
        lookups = Self.lookups(of: self.sources)
        deletionMarks = Self.deletionMarks(of: self.sources)
        bodyFolder = ""
        bodyFolder = localPath + "-bodies"
    }

    /// Returns the configuration with other sources.
    func with(_ sources: [SourceDeclaration]) -> TributaryConfiguration {
        var other = self
        (other.sources, other.positions) = Self.ordered(sources)
        other.lookups = Self.lookups(of: other.sources)
        other.deletionMarks = Self.deletionMarks(of: other.sources)
        return other
    }

    private static func deletionMarks(of sources: [SourceDeclaration]) -> [String: String] {
        sources.flatMap(\.requests).reduce(into: [:]) { marks, request in
            for table in request.content.mapping?.tables ?? [] {
                if let mark = request.deletionMark(of: table) { marks[table.table.lowercased()] = mark }
            }
        }
    }

    private static func lookups(of sources: [SourceDeclaration]) -> [String: [RowLookup]] {
        var lookups: [String: [RowLookup]] = [:]
        lazy var keys = Self.keys(of: sources)
        for source in sources {
            for request in source.requests {
                guard case .mapping(let mapping) = request.content else { continue }
                for reference in mapping.tables.flatMap(\.columns).compactMap(\.reference) {
                    let table = reference.table.lowercased()
                    let lookup = RowLookup(
                        request: RequestID(source: source.name, key: request.key),
                        isOptional: reference.missing == .null,
                        isByValue: keys[table] != [reference.column.lowercased()])
                    if lookup.isOptional || lookup.isByValue { lookups[table, default: []].append(lookup) }
                }
            }
        }
        return lookups
    }

    /// Returns the keys that mappings declare, by the names of the tables, in lower case.
    private static func keys(of sources: [SourceDeclaration]) -> [String: [String]] {
        sources.flatMap(\.requests).reduce(into: [:]) { keys, request in
            guard case .mapping(let mapping) = request.content else { return }
            for table in mapping.tables { keys[table.table.lowercased()] = table.key.map { $0.lowercased() } }
        }
    }

    /// Returns sources in the order of their names, with the position of each name.
    private static func ordered(_ sources: [SourceDeclaration]) -> ([SourceDeclaration], positions: [String: Int]) {
        let ordered = sources.map(\.identified).sorted { $0.name < $1.name }
        return (ordered, Dictionary(uniqueKeysWithValues: ordered.enumerated().map { ($1.name, $0) }))
    }
}

/// The key of encrypted columns and of kept refresh tokens: 256 bits.
package struct EncryptionKey: Sendable, Hashable {
    package let bytes: [UInt8]

    /// - Parameter text: the key in hexadecimal digits. The result is nil if they are not 32 bytes.
    package init?(hexadecimal text: String) {
        var text = text
        guard let data = text.withUTF8({ Lexical.hexadecimal($0) }), data.count == 32 else { return nil }
        bytes = Array(data)
    }

    /// A name that distinguishes keys and reveals nothing about them.
    package var name: String {
        String(HMAC.code(of: Data("tributary key name".utf8), key: bytes).hexadecimal.prefix(32))
    }
}

/// Where the daemon's page, metrics and health are shown, as `[daemon] listen` and `token` declare it.
package struct WebDeclaration: Sendable, Equatable, CustomStringConvertible {
    package var address: ListenAddress
    /// The password of everything but `/healthz`; nil if only this machine can ask.
    package var token: InterpolatedText?
    /// The password of clients that may only read; nil without one.
    package var readToken: InterpolatedText?
    /// False if the rows of the store are not shown.
    package var showsRows = true

    /// The address. Services are logged with all that they hold, and tokens are secret.
    package var description: String { "\(address)" }
}

/// The place of the main store.
public enum StoreLocation: Sendable, Equatable {
    /// The absolute path of an SQLite file.
    case file(String)
    /// A connection string of libpq. It may hold a password, and is never shown.
    case server(String)
}

extension StoreLocation {
    /// Reads a path, or a connection string: a URI, or keywords and values. A file whose name looks like the latter is
    /// meant by `./host=x`.
    package init(argument: String) {
        let word = argument.prefix { $0.isASCII && ($0.isLowercase || $0 == "_") }
        let isKeyword = !word.isEmpty && argument[word.endIndex...].drop { $0 == " " }.first == "="
        if isKeyword || argument.hasPrefix("postgres://") || argument.hasPrefix("postgresql://") {
            self = .server(argument)
        } else {
            self = .file(URL(fileURLWithPath: argument).standardizedFileURL.path)
        }
    }

    /// The path of a file; nil for a server.
    var path: String? { if case .file(let path) = self { path } else { nil } }

    /// True if both are files, or both on servers: the same SQL is written for both.
    package func isSameKind(as other: StoreLocation) -> Bool { kind == other.kind }

    /// The store whose SQL is understood there.
    package var kind: String { path == nil ? "PostgreSQL" : "SQLite" }
}
