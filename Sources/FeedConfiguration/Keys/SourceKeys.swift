import FeedDeclarations
import FeedModel

struct SourceKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable(
        "[sources.NAME]", "One source: when it is fetched.", all, inherited: RequestKeys.table.inheritable)

    let requests = TableKey.tables(
        "requests", RequestKeys.self, default: .required,
        "The source's requests, in the order in which they are sent, each as `[[sources.NAME.requests]]`: see requests."
    )
    let cache = Key.duration(
        "cache", default: .described("what the server's answers suggest"), inherited: .nearest,
        "How long a source waits after a good run.")
    let schedule = Key.string(
        "schedule", default: .described("none; [`cache`](#cache) counts"), inherited: .nearest,
        "When the source is run, instead of `cache`: cron's five fields (crontab(5)), which are minute (0-59), hour (0-23), day of the month (1-31), month (1-12 or jan-dec) and day of the week (0-7 or sun-sat; 0 and 7 are Sunday)."
    )
    let timeZone = Key.string(
        "time_zone", default: .value("UTC"), inherited: .nearest,
        "The clocks that `schedule` and `${now:…}` mean, and times of the feeds that name no offset: a name of tzdata.")
    let allowPrivate = Key.boolean(
        "allow_private", default: false, inherited: .nearest,
        "An address that a response names (a redirect, a next page, `${capture:…}`, `${row:…}`, `${last:…}`, a stored permanent redirect) never leads from a public host to a loopback, private, link-local, unique-local, multicast, unspecified, carrier-grade NAT, reserved or cloud-metadata address."
    )
    let honorMaxAge = Key.boolean(
        "honor_max_age", default: true, inherited: .nearest,
        "The server's `Cache-Control: max-age` or `Expires` puts the next request off, where it says more than `cache`, by up to a year."
    )
    let freshWithin = Key.duration(
        "fresh_within", inherited: .nearest,
        "How long after its last good run a source is stale: hooks receive `stale` once, and `recovered` with the next good run."
    )
    let keepHistory = Key.boolean(
        "keep_history", default: false, inherited: .nearest,
        "Keeps the rows that each commit replaces, in the same transaction, in a table `tributary_history_T` for each table `T`."
    )
    let enabled = Key.boolean("enabled", default: true, "`false` switches the source off.")
}

struct RequestKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable("[[sources.NAME.requests]]", "One request of a source.", all)

    let key = Key.string(
        "key", default: .described("its position, from `\"1\"`"), "The request's name, unique in its source.")
    let url = Key.text(
        "url", default: .required,
        "An `http:`, `https:`, `sftp:`, `ftps:`, `ftp:` or `file:` address, of at most 16,384 bytes, without user and password (use `auth`)."
    )
    let method = Key.string(
        "method", default: .described("`\"GET\"`, or `\"POST\"` with a body"), inherited: .nearest, "The HTTP method.")
    let headers = Key.texts(
        "headers", default: .described("an `Accept` for the `format`, or else for XML"), inherited: .merged,
        "Headers that are sent.")
    let parameters = Key.texts(
        "parameters", inherited: .merged,
        "They go into the query of the address, or form-encoded into the body of a POST that has none.")
    let body = TableKey.table(
        "body", BodyKeys.self, short: "text", inherited: .nearest,
        "The body of the request: a text, or a table that describes it.")
    let soap = TableKey.table("soap", SOAPKeys.self, inherited: .nearest, "A call of a SOAP operation: see soap.")
    let auth = TableKey.table(
        "auth", AuthenticationKeys.self, inherited: .nearest, "The credentials of the request: see auth.")
    let tls = TableKey.table(
        "tls", TLSKeys.self, default: .described("the system's certificates"), inherited: .nearest,
        "Certificates: see tls.")
    let knownHosts = Key.file(
        "known_hosts", inherited: .nearest,
        "With an `sftp:` address: the file with the host keys of servers, as OpenSSH writes it (sshd(8)).")
    let proxy = Key.text("proxy", inherited: .nearest, "An `http:` or `socks5:` proxy.")
    let timeout = Key.duration(
        "timeout", default: .value(.seconds(30)), inherited: .nearest,
        "The time for the whole exchange, from connecting to the last byte, retries included.")
    let connectTimeout = Key.duration(
        "connect_timeout", default: .value(.seconds(10)), inherited: .nearest, "The time for connecting alone.")
    let maxBody = Key.size(
        "max_body", default: 256 << 20, inherited: .nearest,
        "The largest body; a larger one discards the run.")
    let acceptStatus = Key.integers(
        "accept_status", default: [200], inherited: .nearest, "The statuses whose bodies are parsed.")
    let retries = Key.integer(
        "retries", 0...ConfigurationLimits.retries, default: .value(0), inherited: .nearest,
        "How often a request that broke off, or was answered 500, 502 or 504, is sent again within its `timeout`, at growing intervals; at most 1,000."
    )
    let retryUnsafe = Key.boolean("retry_unsafe", default: false, inherited: .nearest, "`retries` repeats a POST, too.")
    let resume = Key.boolean(
        "resume", default: false, inherited: .nearest,
        "A transfer that breaks off goes on where it stopped, as one of the `retries`, if the server still has the same version."
    )
    let parser = Key.string(
        "parser", inherited: .nearest,
        "The parser of the body: the name of a class or record that the program registers (`tributary` has `SyndicationParser`, `SitemapParser` and `EurofxrefParser`: see Tables.md), or `\"mirrored\"`, for which the store's own tables are the mapping."
    )
    let format = Key<BodyFormat>.choice(
        "format", default: .described("by the Content-Type, or else by the body itself"),
        "The format of the body: XML, JSON, JSON Lines (a value on each line), or CSV.")
    let csv = TableKey.table("csv", CSVKeys.self, "How a body in CSV is written: see csv. It means `format = \"csv\"`.")
    let repair = Key.strings(
        "repair",
        "Faults to repair in XML that is not well-formed: `\"characters\"` that XML forbids, HTML's `\"entities\"`, bare `\"ampersands\"` and `<`."
    )
    let documents = Key.string(
        "documents",
        "The members of the archive that the body is, or the files of the folder that the address names: each whose name matches this pattern is a document, and all are one commit."
    )
    let newerThan = Key.duration(
        "newer_than", default: .described("any age"),
        "How long ago a file of a folder may have changed; older ones are left out, as if they were not there.")
    let tables = TableKey.tables(
        "tables", TableKeys.self, "A mapping, instead of a parser: one entry for each table that the body becomes.")
    let namespaces = Key.texts("namespaces", "The prefixes that paths of the mapping use.")
    let root = Key.string("root", default: .described("any"), "With a mapping: the name of the root element.")
    let expand = Key.boolean(
        "expand", default: false,
        "With a mapping: `export` writes the `set` columns of rows that others refer to, besides the value that they are looked up by."
    )
    let sync = Key<SyncMode>.choice(
        "sync", default: .value(.upsert), inherited: .nearest, "How new, known and missing rows are merged.")
    let scope = Key.texts(
        "scope", inherited: .merged,
        "Limits a mirror's deletions to rows that have these values, so that several sources share a table, and fills these columns where the feed does not."
    )
    let window = Key.string(
        "window", inherited: .nearest, "As a table's, for the tables that a class writes and that have the column.")
    let deleted = Key.string("deleted", inherited: .nearest, "As a table's, for every table that the request mirrors.")
    let expire = TableKey.table(
        "expire", ExpiryKeys.self, inherited: .nearest, "As a table's, for every table that the request writes.")
    let allowEmpty = Key.boolean(
        "allow_empty", default: false, inherited: .nearest,
        "Lets a mirroring request without a single record delete every row.")
    let maxDeleted = Key.changeLimit(
        "max_deleted", default: .described("half of the rows, where there are more than 100"), inherited: .nearest,
        "The most rows of its scope that a commit may delete.")
    let maxChanged = Key.changeLimit(
        "max_changed", default: .described("any"), inherited: .nearest, "The same for rows that a commit updates.")
    let minRows = Key.integer(
        "min_rows", 0...ConfigurationLimits.minRows, default: .value(0),
        "The least rows that the request stages, in all its tables together; fewer discard the run.")
    let expect = TableKey.tables(
        "expect", ExpectationKeys.self,
        "Conditions on the staged rows, each as `[[sources.NAME.requests.expect]]`, looked at before the commit.")
    let keepBodies = Key.integer(
        "keep_bodies", 0...ConfigurationLimits.keptBodies, default: .value(0), inherited: .nearest,
        "How many of the last good bodies are kept beside the store, for `replay`; at most 1,000.")
    let capture = Key.texts(
        "capture",
        "Values of this answer for the requests after it, as `${capture:NAME}`: for each name a path from the root; `string(/login/token)` takes the text of all elements in it, too."
    )
    let page = TableKey.table("page", PageKeys.self, "The answer comes in pages: see page.")
    let forEach = TableKey.table(
        "for_each", ForEachKeys.self, short: "rows",
        "A `SELECT`; the request is sent once for each of its rows, and uses them as `${row:COLUMN}`.")
    let concurrency = Key.integer(
        "concurrency", 1...ConfigurationLimits.concurrency, default: .value(ForEachDeclaration.defaultConcurrency),
        "How many of the requests of `for_each` are under way at the same time, as far as `per_host` lets them.")
    let maxRequests = Key.integer(
        "max_requests", 1...ConfigurationLimits.maxRequests, default: .value(ForEachDeclaration.defaultMaxRequests),
        "The most rows of `for_each`.")
}

struct ForEachKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable("[sources.NAME.requests.for_each]", "A request for each row.", all)

    let rows = Key.string("rows", default: .required, "The `SELECT`.")
    let onError = Key<ForEachDeclaration.OnError>.choice(
        "on_error", default: .value(.discard),
        "What becomes of a row whose answer is 404 or 410, or whose document does not parse: the run is discarded, or the row is left out and named in the run's report."
    )
    let maxSkipped = Key.integer(
        "max_skipped", 1...ConfigurationLimits.maxRequests, default: .value(ForEachDeclaration.defaultMaxSkipped),
        "The most rows that `on_error = \"skip\"` leaves out.")
}

struct ExpectationKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable(
        "[[sources.NAME.requests.expect]]", "A condition on the staged rows, looked at before the commit.", all)

    let sql = Key.string(
        "sql", default: .required,
        "The condition, true where all is well: an expression or a `SELECT` in SQLite's SQL, over the rows of this run, `staged.TABLE`."
    )
    let message = Key.string(
        "message", default: .described("the SQL"), "What is wrong where the condition does not hold.")
    let onFailure = Key<Expectation.Failure>.choice(
        "on_failure", default: .value(.discard),
        "What becomes of the run then: it is discarded, or blocked until it is accepted, or committed with a note.")
}

struct ExpiryKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable("[sources.NAME.requests.expire]", "How old rows may become.", all)

    let column = Key.string("column", default: .required, "The column with a row's date.")
    let after = Key.duration("after", default: .required, "How long ago the date may be.")
}
