import FeedDeclarations
import FeedModel

/// The keys of a request that `[defaults]` and a source may give for all their requests. The nearest value counts;
/// headers and parameters are merged name by name.
struct RequestDefaults {
    var method: String?
    var headers = RequestDeclaration.defaultHeaders
    var parameters: [String: InterpolatedText] = [:]
    var body: RequestBody?
    var soap: SOAPDeclaration?
    var authentication: Authentication?
    var tls: Transport.TLS?
    var proxy: Transport.Proxy?
    var knownHosts: String?
    var timeout: Duration?
    var connectTimeout: Duration?
    var maxBody: Int?
    var parser: String?
    var sync: SyncMode?
    var scope: [String: InterpolatedText] = [:]
    var window: String?
    var deleted: String?
    var expiry: RowExpiry?
    var allowsEmpty: Bool?
    var maxDeleted: ChangeLimit?
    var maxChanged: ChangeLimit?
    var keepBodies: Int?
    var acceptStatus: [Int]?
    var retries: Int?
    var retriesUnsafe: Bool?
    var resumes: Bool?
    /// True if a parser was given, even if its value is not valid.
    var triedParser = false

    init() {}

    /// Reads the keys from a table, takes missing ones from `outer`, and reports unknown ones. Values of `outer` have
    /// been checked where they stand.
    init(_ table: DeclarationReader, over outer: RequestDefaults, _ parsers: any BodyParsing) {
        let keys = RequestKeys.all
        method = table[keys.method]?.uppercased() ?? outer.method
        headers = outer.headers
        for (name, value) in table[keys.headers] ?? [:] {
            if let known = headers.keys.first(where: { $0.lowercased() == name.lowercased() }) { headers[known] = nil }
            if !Self.isToken(name) {
                table.report("headers", "'\(name)' is not a header's name (RFC 9110, section 5.1)")
            }
            if value.probe.utf8.contains(where: { $0 == 10 || $0 == 13 || $0 == 0 }) {
                table.report("headers", "the value of '\(name)' has a line feed in it")
            }
            headers[name] = value
        }
        parameters = outer.parameters.merging(table[keys.parameters] ?? [:]) { $1 }
        // A body also replaces an inherited SOAP call, and a SOAP call an inherited body.
        body = RequestBodyReader(table: table).read() ?? (table.has(RequestKeys.all.soap) ? nil : outer.body)
        soap =
            table.table(keys.soap).map { SOAPReader(table: $0).read() }
            ?? (table.has(RequestKeys.all.body) ? nil : outer.soap)
        if table.has(RequestKeys.all.body), table.has(RequestKeys.all.soap) {
            table.report("soap", "a request has a 'body' or calls 'soap', not both")
        }
        let transport = TransportReader(table: table)
        authentication = transport.authentication() ?? outer.authentication
        tls = transport.tls() ?? outer.tls
        proxy = transport.proxy() ?? outer.proxy
        knownHosts = table[keys.knownHosts] ?? outer.knownHosts
        timeout = table[keys.timeout] ?? outer.timeout
        connectTimeout = table[keys.connectTimeout] ?? outer.connectTimeout
        maxBody = table[keys.maxBody] ?? outer.maxBody
        parser = table[keys.parser] ?? outer.parser
        sync = table[keys.sync] ?? outer.sync
        scope = outer.scope.merging(table[keys.scope] ?? [:]) { $1 }
        window = table[keys.window] ?? outer.window
        if table.has(keys.window), window?.isEmpty ?? false {
            table.report("window", "a column's name must not be empty")
        }
        deleted = table.deletionMark(keys.deleted) ?? outer.deleted
        expiry = table.expiry(keys.expire) ?? outer.expiry
        allowsEmpty = table[keys.allowEmpty] ?? outer.allowsEmpty
        maxDeleted = table[keys.maxDeleted] ?? outer.maxDeleted
        maxChanged = table[keys.maxChanged] ?? outer.maxChanged
        keepBodies = table[keys.keepBodies] ?? outer.keepBodies
        acceptStatus = table[keys.acceptStatus] ?? outer.acceptStatus
        for status in acceptStatus ?? [] where table.has(keys.acceptStatus) && !(200..<300).contains(status) {
            table.report("accept_status", "\(status) is not a status of success (200 to 299)")
        }
        retries = table[keys.retries] ?? outer.retries
        retriesUnsafe = table[keys.retryUnsafe] ?? outer.retriesUnsafe
        resumes = table[keys.resume] ?? outer.resumes
        triedParser = table.has(RequestKeys.all.parser) || outer.triedParser
        if table.has(keys.method), let method, !Self.isToken(method) {
            table.report("method", "'\(method)' is not a method (RFC 9110, section 9)")
        }
        if table.has(keys.parser), !table.has(keys.tables), let parser, parser != BodyContent.mirroredName,
            !parsers.names.contains(parser)
        {
            let hint =
                nearestName(to: parser, among: parsers.names).map { "did you mean '\($0)'?" }
                ?? "registered: \(parsers.names.joined(separator: ", "))"
            table.report("parser", "the parser '\(parser)' is not registered; \(hint)")
        }
        table.finish()
    }

    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}
