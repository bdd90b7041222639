public import FeedModel
package import Foundation
package import XMLStream

/// One request of a source's stack, as `sources.toml` declares it, with every default filled in.
public struct RequestDeclaration: Sendable, Equatable {
    public var key: String
    public var url: InterpolatedText { didSet { derived = nil } }
    public var method = "GET" { didSet { derived = nil } }
    public var headers = RequestDeclaration.defaultHeaders { didSet { derived = nil } }
    public var parameters: [String: InterpolatedText] = [:] { didSet { derived = nil } }
    public var body: RequestBody? { didSet { derived = nil } }
    /// The time limit of the whole exchange, from connecting to the last byte.
    public var timeout: Duration { didSet { derived = nil } }
    public var transport: Transport { didSet { derived = nil } }
    public var authentication: Authentication? { didSet { derived = nil } }
    /// The most bytes of the body, after decompression.
    public var maxBody: Int
    public var content: BodyContent { didSet { derived = nil } }
    /// The format of the body, and how the publisher writes it.
    public package(set) var dialect = BodyDialect()
    /// The faults that are repaired in a body that is XML.
    package private(set) var repair: Set<XMLRepair.Fault> = []
    /// The members of an archive that are the request's documents; nil where the body is one document.
    package var documents: MemberPattern? { didSet { derived = nil } }
    /// The age beyond which files of a folder are left out; nil for none.
    package var newerThan: Duration? { didSet { derived = nil } }
    /// What is done with the files once their rows are committed; nil for nothing.
    package var afterCommit: FileAction? { didSet { derived = nil } }
    /// Represents `content`, `captures` and `paging` in the request's ``ValidityDigest``. Describing them again for each run
    /// would take longer than the run.
    var contentDigest = ""
    public var sync = SyncMode.upsert
    public var scope: [String: String] = [:]
    /// The column of a moving window. In tables that have it, a mirror deletes only rows whose value in it is not below
    /// the smallest in the feed.
    public package(set) var window: String?
    /// The column that marks rows as gone, where a mirror does not delete them.
    public package(set) var deleted: String? { didSet { derived = nil } }
    /// How old rows may become.
    public package(set) var expiry: RowExpiry? { didSet { derived = nil } }
    /// True where a mirroring request may delete every row because its feed has none.
    public var allowsEmpty = false { didSet { derived = nil } }
    /// What one commit may do at most to the rows of the request's scope.
    public package(set) var limits = ChangeLimits()
    /// The least rows that the request stages, in all its tables.
    public package(set) var minRows = 0
    /// The most records of a run that may be left out because of an error; nil for any number.
    package var maxSkipped: ChangeLimit?
    /// What follows from documents of another form than earlier ones.
    package var drift = DriftRule.report
    /// Conditions on the staged rows, looked at before the commit where the request has staged any.
    public package(set) var expectations: [Expectation] = []
    /// The number of bodies to keep beside the store.
    public package(set) var keepBodies = 0
    /// The source's ``SourceDeclaration/keepsHistory``: tables that are created need a key, by which rows are known in it.
    package var keepsHistory = false
    /// True where responses may lead to addresses that are not public.
    package var allowsPrivate = false { didSet { derived = nil } }
    /// For a request that is sent, what named its address; nil for an address that is declared.
    package var provenance: AddressProvenance? { didSet { derived = nil } }
    /// The zone of times without one, where a column gives no other, and of `${now:…}`; nil for UTC.
    package private(set) var timeZone: TimeZoneRules?
    /// Statuses whose bodies are parsed.
    public var acceptStatus: Set<Int> = [200]
    /// The number of times that a request that broke off is sent again within its timeout.
    public var retries = 0
    /// True if a request that is not idempotent is sent again, too (RFC 9110, section 9.2.2).
    public var retriesUnsafe = false
    /// True if a broken transfer continues where it stopped, if the server still has the same version.
    public package(set) var resumes = false

    /// The operation that the request calls; its headers and body are the request's own.
    public package(set) var soap: SOAPDeclaration?
    /// Values that later requests may use.
    public package(set) var captures: [CaptureDeclaration] = []
    public package(set) var paging: PagingDeclaration?
    package var until: UntilDeclaration?
    public package(set) var forEach: ForEachDeclaration? { didSet { derived = nil } }

    /// The place of the declaration.
    @Uncompared package var place = KeyPlace()

    /// The values that follow from the declaration. They are worked out once, not for each run; nil before that.
    private var derived: Derived?

    private struct Derived: Sendable, Equatable {
        var digest: ValidityDigest
        /// Nil where the request has references that are still to be resolved.
        var prepared: PreparedRequest?
        var references: [Reference]
        var encrypts: Bool
    }

    /// For a request that is sent, the values of ``mappedReferences``; nil for NULL.
    package var given: [String: String?] = [:]

    package init(
        key: String, url: InterpolatedText, timeout: Duration, transport: Transport, maxBody: Int, content: BodyContent
    ) {
        self.key = key
        self.url = url
        self.timeout = timeout
        self.transport = transport
        self.maxBody = maxBody
        self.content = content
    }

    /// The paths of the values in a response that the run needs: those of captures, then that of the next page's
    /// address.
    package var capturedPaths: [XMLPath] {
        var paths = captures.map(\.path)
        if let path = paging?.path { paths.append(path) }
        return paths
    }

    /// The references that are resolved when the request is sent.
    package var references: [Reference] { derived?.references ?? sentReferences + mappedReferences }

    /// Those ``references`` whose values are held by columns.
    package var mappedReferences: [Reference] {
        content.mapping?.sentReferences ?? []
    }

    /// Those ``references`` that are in the address, the headers, the parameters, the body and the bounds of spans.
    package var sentReferences: [Reference] {
        var texts = [url] + headers.values + parameters.values + [body?.text].compactMap(\.self)
        if case .slices(let slices)? = forEach?.rows { texts += [slices.from, slices.to].compactMap(\.self) }
        return texts.flatMap(\.references)
    }

    /// True if the request is always sent without validators. A 304 would say nothing about a different question, and
    /// has nothing to capture.
    package var isUnconditional: Bool {
        !captures.isEmpty || paging != nil || until != nil || forEach != nil || !references.isEmpty
    }

    /// The number of times that this request may be sent again.
    package var safeRetries: Int {
        retriesUnsafe || ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"].contains(method) ? retries : 0
    }

    package func hasHeader(_ name: String) -> Bool { headers.keys.contains { $0.lowercased() == name.lowercased() } }

    /// Takes times that a mapping or the mirrored schema reads to be in a zone where they name none, and writes `${now:…}` and
    /// today, where `slices` end, as its clocks show them.
    package mutating func assumeTimeZone(_ name: String, _ rules: TimeZoneRules) {
        guard rules != .utc else { return }
        switch content {
        case .parser, .captures:
            let hasSlices = forEach.map { $0.query == nil } ?? false
            guard hasSlices || sentReferences.contains(where: \.isTime) else { return }
        case .mirrored: break
        case .mapping(var mapping):
            for table in mapping.tables.indices {
                for column in mapping.tables[table].columns.indices
                where mapping.tables[table].columns[column].timeZone == nil {
                    mapping.tables[table].columns[column].timeZone = rules
                }
            }
            content = .mapping(mapping)
        }
        timeZone = rules
        contentDigest += "\u{0}" + name
    }

    /// Repairs bodies that are not well-formed. The faults decide which rows a body gives, and so are part of its digest.
    package mutating func mend(_ faults: Set<XMLRepair.Fault>) {
        guard !faults.isEmpty else { return }
        repair = faults
        contentDigest += "\u{0}repair " + faults.map(\.rawValue).sorted().joined(separator: " ")
    }

    /// Makes the request a call of a SOAP operation.
    package mutating func call(_ operation: SOAPDeclaration) {
        soap = operation
        method = "POST"
        body = operation.body
        for (name, value) in operation.headers where !hasHeader(name) { headers[name] = value }
    }

    /// Returns the mode in which a mapped table's rows are merged.
    package func sync(of table: TableMapping) -> SyncMode { table.sync ?? (table.within == nil ? sync : .mirror) }

    /// Returns the limits on the changes of one commit to the request's rows of a table.
    package func limits(of table: String) -> ChangeLimits {
        guard let own = content.mapping?.tables(named: table).first else { return limits }
        return ChangeLimits(
            deleted: own.maxDeleted ?? limits.deleted, changed: own.maxChanged ?? limits.changed,
            allowsEmpty: limits.allowsEmpty)
    }

    /// True if a limit of deletions or updates may be exceeded, or an expectation or a changed form may block the run.
    package var isLimited: Bool {
        if expectations.contains(where: { $0.onFailure == .block }) { return true }
        guard case .mapping(let mapping) = content else {
            return content == .mirrored && drift == .block
                || content != .captures && (limits.changed != nil || limits.deleted != nil && mirrors)
        }
        if drift == .block { return true }
        return mapping.tables.contains { table in
            (table.maxChanged ?? limits.changed) != nil
                || (table.maxDeleted ?? limits.deleted) != nil
                    && (sync(of: table) == .mirror || table.deletedWhen != nil)
        }
    }

    /// The tables that have a least number of rows of their own, with it.
    package var leastRows: [(table: String, rows: Int)] {
        (content.mapping?.tables ?? []).filter { $0.minRows > 0 }.map { ($0.table, $0.minRows) }
    }

    /// Returns the window of a mirrored table: its own, or that of its parents' table.
    package func window(of table: TableMapping) -> MirrorWindow? { window(of: table, below: []) }

    private func window(of table: TableMapping, below children: Set<String>) -> MirrorWindow? {
        guard sync(of: table) == .mirror else { return nil }
        if let own = table.window ?? window.flatMap({ table.column($0)?.name }) { return MirrorWindow(column: own) }
        let known = children.union([table.table.lowercased()])
        for column in table.columns {
            guard case .parent(let name) = column.origin, !known.contains(name.lowercased()),
                let parent = content.mapping?.tables(named: name).first,
                var found = window(of: parent, below: known)
            else { continue }
            found.parents.insert(.init(column: column.name, table: parent.table), at: 0)
            return found
        }
        return nil
    }

    /// Returns the same as ``window(of:)-swift.method``, also for a table that a parser writes.
    package func window(of table: String) -> MirrorWindow? {
        guard let mapping = content.mapping else { return window.map { MirrorWindow(column: $0) } }
        return mapping.tables(named: table).first { sync(of: $0) == .mirror }.flatMap { window(of: $0) }
    }

    /// Returns true if the request deletes rows of the table that its feed lacks. A table that is mirrored within its
    /// parents does not count: nothing is decided there about the rows of other parents.
    package func mirrors(_ table: String) -> Bool {
        content.mapping?.tables(named: table).contains(where: mirrorsWhole) ?? mirrors
    }

    private func mirrorsWhole(_ table: TableMapping) -> Bool { table.within == nil && sync(of: table) == .mirror }

    /// True if the request mirrors any table.
    package var mirrors: Bool {
        content.mapping?.tables.contains(where: mirrorsWhole) ?? (sync == .mirror && content != .captures)
    }

    /// True if rows with an existing key are inserted again.
    package var appends: Bool { content.mapping?.tables.contains { sync(of: $0) == .append } ?? (sync == .append) }

    /// Returns true if the request deletes any of a table's rows, perhaps only children of the parents that it sends.
    package func deletesRows(of table: String) -> Bool {
        content.mapping?.tables(named: table).contains { sync(of: $0) == .mirror } ?? mirrors
    }

    /// True if the request deletes rows of any table.
    package var deletesRows: Bool { content.mapping?.tables.contains { sync(of: $0) == .mirror } ?? mirrors }

    /// The limit of a body without `max_body`, in bytes.
    package static let defaultMaxBody = 256 << 20
    /// The headers of a request that declares none.
    package static let defaultHeaders = ["Accept": InterpolatedText(BodyFormat.xml.accept)]

    /// True if its bodies are kept. One that only gives captures is of no use later, and may be a secret.
    package var keepsBodies: Bool { keepBodies > 0 && content != .captures }

    /// Returns the address to which the request is sent, without its parameters.
    ///
    /// - Throws: ``Finding`` if that is no address, for instance before a response has given the values of
    ///   its references.
    package func address() throws(Finding) -> URL { try target().url }

    /// Returns the address, by its kind.
    ///
    /// - Throws: ``Finding``, as ``address()`` does.
    func target() throws(Finding) -> RequestAddress {
        try RequestAddress(url.value, in: authentication?.bucketAccess ?? BucketAccess())
    }

    /// True if a header or a credential is the content of a file.
    package var hasSecretOfFile: Bool {
        (headers.values + (authentication?.texts ?? [])).contains { $0.template.contains("${file:") }
    }

    /// What is sent for the request, prepared with the configuration; nil where it has references.
    package var prepared: PreparedRequest? { derived?.prepared }

    /// What stored validators and bodies of the request stand for.
    package var digest: ValidityDigest { derived?.digest ?? ValidityDigest(self) }

    /// True if a column of the request's rows is encrypted.
    var encrypts: Bool { derived?.encrypts ?? content.mapping?.encrypts ?? false }

    /// Works out the values that follow from the declaration.
    mutating func derive() {
        derived = Derived(
            digest: ValidityDigest(self), prepared: sentReferences.isEmpty ? try? PreparedRequest(self) : nil,
            references: sentReferences + mappedReferences, encrypts: content.mapping?.encrypts ?? false)
    }
}

/// A condition on the rows that a stack has staged, which decides whether they are committed.
public struct Expectation: Sendable, Hashable {
    /// What becomes of a run for which the condition does not hold.
    package enum Failure: String, Sendable, CaseIterable {
        /// The run is discarded.
        case discard
        /// The run waits until it is accepted.
        case block
        /// The run is committed, with a note.
        case warn
    }

    /// An expression or a SELECT in SQLite's SQL, over the tables of the schema `staged`.
    package var sql: String
    /// The message for users if the condition is not true; nil for the SQL itself.
    package var message: String?
    package var onFailure: Failure
}

/// What follows from documents of another form than earlier ones.
package enum DriftRule: String, Sendable, CaseIterable {
    /// The commit notes it, and hooks are told.
    case report
    /// The run is blocked until `accept`.
    case block
}
