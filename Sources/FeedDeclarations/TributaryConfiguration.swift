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
    package var encryptionKey: EncryptionKey?
    public var redactor: Redactor

    public var enabledSources: [SourceDeclaration] { sources.filter(\.isEnabled) }

    /// Whether another store, or another schema of it, is declared.
    package func differsInStore(from other: TributaryConfiguration) -> Bool {
        storePath != other.storePath || schemaPath != other.schemaPath || schemaAfterPath != other.schemaAfterPath
    }

    public subscript(source name: String) -> SourceDeclaration? { sourcesByName[name] }

    package init(
        file: String, storePath: String, schemaPath: String?, schemaAfterPath: String?, history: Duration,
        concurrency: Int, perHost: Int,
        sources: [SourceDeclaration], encryptionKey: EncryptionKey?, redactor: Redactor
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
}
