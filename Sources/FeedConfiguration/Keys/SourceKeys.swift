import FeedModel
import XMLStream

struct SourceKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable(
        "[sources.NAME]", "One source: when it is fetched.", all, inner: RequestKeys.table,
        rules: [.atMostOne(all.schedule, all.cache)])

    let requests = TableKey.tables(
        "requests", RequestKeys.self, default: .required,
        "The requests of the source, in the order in which they are sent, each as `[[sources.NAME.requests]]`: see requests."
    )
    let cache = Key(
        "cache", .duration, default: .described("what the server suggests"), inherited: .nearest,
        "The time between a good run and the next one, or longer if the server says so (`honor_max_age`).")
    let schedule = Key(
        "schedule", .schedule, default: .described("none; [`cache`](#cache) counts"), inherited: .nearest,
        "The times of runs, instead of `cache`, as cron's five fields (crontab(5)): minute (0-59), hour (0-23), day of the month (1-31), month (1-12 or jan-dec) and day of the week (0-7 or sun-sat; 0 and 7 are Sunday)."
    )
    let timeZone = Key(
        "time_zone", .timeZone, default: .value(.utc), inherited: .nearest,
        "The time zone of `schedule`, of `${now:…}`, and of times without an offset in the feeds: a tzdata name.")
    let allowPrivate = Key(
        "allow_private", .boolean, default: .value(false), inherited: .nearest,
        "Allows responses to lead to private addresses."
    )
    let honorMaxAge = Key(
        "honor_max_age", .boolean, default: .value(true), inherited: .nearest,
        "Postpones the next request while the response is fresh (`Cache-Control: max-age` or `Expires`), if this is longer than `cache`, by at most a year."
    )
    let freshWithin = Key(
        "fresh_within", .duration, inherited: .nearest,
        "How old the last good run may be before the source is stale."
    )
    let keepHistory = Key(
        "keep_history", .history, default: .value(HistoryOption(isKept: false)), inherited: .nearest,
        "Keeps the rows that each commit replaces, in the same transaction, in a table `tributary_history_T` for each table `T`. With a duration, keeps them so long, and shows them in a view `T_versions`."
    )
    let enabled = Key("enabled", .boolean, default: .value(true), "`false` disables the source.")
}

struct RequestKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable(
        "[[sources.NAME.requests]]", "One request of a source.", all,
        rules: [
            .atMostOne(all.body, all.soap), .atMostOne(all.tables, all.parser),
            .atMostOne(all.page, all.until), .atMostOne(all.forEach, all.until),
            .atMostOne(all.forEach, all.slices), .atMostOne(all.slices, all.until),
            .key(all.namespaces, requires: all.tables), .key(all.root, requires: all.tables),
            .key(all.expand, requires: all.tables), .key(all.concurrency, requires: all.forEach),
            .key(all.maxRequests, requires: all.forEach), .key(all.csv, requires: all.format, is: .csv, orNone: true),
            .key(all.xlsx, requires: all.format, is: .xlsx),
            .key(all.protobuf, requires: all.format, is: .protobuf, orNone: true),
            .value(
                BodyFormat.protobuf, of: all.format, requires: all.protobuf, hint: ", the schema of the body",
                help: "for GTFS Realtime, write format = \"gtfs-realtime\""),
            .key(all.repair, requires: all.format, is: .xml, orNone: true), .atMostOne(all.repair, all.csv),
            .atMostOne(all.repair, all.protobuf), .atMostOne(all.forEach, all.afterCommit),
            .atMostOne(all.slices, all.afterCommit),
            .atMostOne(
                all.forEach, all.capture, because: "a request with 'for_each' has several responses",
                help: "capture from another request"),
            .atMostOne(
                all.slices, all.capture, because: "a request with 'slices' has several responses",
                help: "capture from another request"),
        ])

    let key = Key(
        "key", .string, default: .described("its position, from `\"1\"`"), "The request's name, unique in its source.")
    let url = Key(
        "url", .sentText, default: .required,
        "An `http:`, `https:`, `s3:`, `sftp:`, `ftps:`, `ftp:` or `file:` address, of at most 16,384 bytes, without user and password (use `auth`)."
    )
    let method = Key(
        "method", .method, default: .described("`\"GET\"`, or `\"POST\"` with a body"), inherited: .nearest,
        "The HTTP method.")
    let headers = Key(
        "headers", .headers, default: .described("an `Accept` for the `format`, or else for XML"), inherited: .merged,
        "Headers of the request.")
    let parameters = Key(
        "parameters", .sentTexts, inherited: .merged,
        "Parameters in the query of the address, or form-encoded in the body of a POST without `body`.")
    let body = Key(
        "body", .table(BodyKeys.self, short: "text"), inherited: .nearest,
        "The body of the request: a text, or a table that describes it.")
    let soap = Key(
        "soap", .table(SOAPKeys.self), inherited: .nearest,
        "A call of a SOAP operation: see soap.")
    let auth = Key(
        "auth", .table(AuthenticationKeys.self), inherited: .nearest,
        "The credentials of the request: see auth.")
    let tls = Key(
        "tls", .table(TLSKeys.self), default: .described("the system's certificates"), inherited: .nearest,
        "Certificates: see tls.")
    let knownHosts = Key(
        "known_hosts", .file, inherited: .nearest,
        "With an `sftp:` address: the file with the host keys of servers, as OpenSSH writes it (sshd(8)).")
    let proxy = Key("proxy", .proxy, inherited: .nearest, "An `http:` or `socks5:` proxy.")
    let timeout = Key(
        "timeout", .positiveDuration, default: .value(.seconds(30)), inherited: .nearest,
        "The time limit for the whole exchange, from connecting to the last byte, including retries.")
    let connectTimeout = Key(
        "connect_timeout", .positiveDuration, default: .value(.seconds(10)), inherited: .nearest,
        "The time limit for connecting.")
    let maxBody = Key(
        "max_body", .size, default: .value(RequestDeclaration.defaultMaxBody), inherited: .nearest,
        "The largest body; a larger one discards the run.")
    let acceptStatus = Key(
        "accept_status",
        .integers.checked { statuses in
            statuses.filter { !(200..<300).contains($0) }.map { "\($0) is not a status of success (200 to 299)" }
        }, default: .value([200]), inherited: .nearest, "The statuses whose bodies are parsed.")
    let retries = Key(
        "retries", .integer(0...ConfigurationLimits.retries), default: .value(0), inherited: .nearest,
        "How many times a request is sent again after a broken connection or a 500, 502 or 504, at growing intervals within `timeout`; at most 1,000."
    )
    let retryUnsafe = Key(
        "retry_unsafe", .boolean, default: .value(false), inherited: .nearest, "`retries` also repeats a POST.")
    let resume = Key(
        "resume", .boolean, default: .value(false), inherited: .nearest,
        "Continues a broken transfer where it stopped, as one of the `retries`, if the server still has the same version."
    )
    let parser = Key(
        "parser", .string, inherited: .nearest,
        "The parser of the body: a class or record that the program registers, or `\"mirrored\"`, which takes the store's own tables as the mapping."
    )
    let format = Key<BodyFormat>(
        "format", .choice,
        default: .described("by the Content-Type, the suffix of the address, or else by the body itself"),
        "The format of the body: XML, JSON, JSON Lines (a value on each line), CSV, an HTML page, a workbook (XLSX), Protocol Buffers, or GTFS Realtime."
    )
    let csv = Key("csv", .table(CSVKeys.self), "The dialect of a CSV body: see csv.")
    let xlsx = Key("xlsx", .table(WorkbookKeys.self), "The part of a workbook to read: see xlsx.")
    let protobuf = Key(
        "protobuf", .table(ProtobufKeys.self), "The schema of a body in Protocol Buffers: see protobuf.")
    let repair = Key(
        "repair", .choices(XMLRepair.Fault.allCases),
        "Faults to repair in XML that is not well-formed: `\"characters\"` that XML forbids, HTML's `\"entities\"`, bare `\"ampersands\"` and `<`."
    )
    let documents = Key(
        "documents", .string,
        "A pattern for the members of an archive, or for the files of a folder: each match is a document, and all documents are committed together."
    )
    let newerThan = Key(
        "newer_than", .duration, default: .described("any age"),
        "How long ago a file of a folder may have changed; older files are ignored.")
    let afterCommit = Key(
        "after_commit", .table(AfterCommitKeys.self, short: "action"),
        "The action on the files of a `file:`, `s3:`, `sftp:`, `ftps:` or `ftp:` address after their rows are committed: `\"delete\"`, or `{ move = \"done/\" }`."
    )
    let tables = TableKey.tables(
        "tables", TableKeys.self, "A mapping: one entry for each table that the body fills.")
    let namespaces = Key("namespaces", .texts, "The prefixes in the mapping's paths.")
    let root = Key(
        "root", .string, default: .described("any"), "With a mapping: the required name of the root element.")
    let expand = Key(
        "expand", .boolean, default: .value(false),
        "With a mapping: `export` also writes the `set` columns of referenced rows, in addition to their look-up value."
    )
    let sync = Key<SyncMode>(
        "sync", .choice, default: .value(.upsert), inherited: .nearest, "How new, known and missing rows are merged.")
    let scope = Key(
        "scope", .texts, inherited: .merged,
        "Column values that limit a mirror's deletions to its own rows, so that several sources can share a table."
    )
    let window = Key(
        "window", .string.checked("a column's name must not be empty") { !$0.isEmpty }, inherited: .nearest,
        "Like a table's, for the tables of a parser class that have the column.")
    let deleted = Key(
        "deleted", .newName, inherited: .nearest, "Like a table's, for every table that the request mirrors.")
    let expire = Key(
        "expire", .table(ExpiryKeys.self), inherited: .nearest,
        "Like a table's, for every table that the request writes.")
    let allowEmpty = Key(
        "allow_empty", .boolean, default: .value(false), inherited: .nearest,
        "Allows a mirror without a single record to delete every row.")
    let maxDeleted = Key(
        "max_deleted", .changeLimit, default: .described("half of the rows, if there are more than 100"),
        inherited: .nearest,
        "The maximum number of rows in its scope that a commit may delete.")
    let maxChanged = Key(
        "max_changed", .changeLimit, default: .described("any"), inherited: .nearest,
        "The maximum number of rows in its scope that a commit may update.")
    let maxSkipped = Key(
        "max_skipped", .changeLimit, default: .described("any"), inherited: .nearest,
        "The maximum number of records of a run that `on_error = \"skip\"` may leave out; more discard the run.")
    let drift = Key<DriftRule>(
        "drift", .choice, default: .value(.report), inherited: .nearest,
        "What follows from a changed form of the documents: `report` notes it, `block` blocks the commit.")
    let minRows = Key(
        "min_rows", .integer(0...ConfigurationLimits.minRows), default: .value(0),
        "The minimum number of rows that the request stages, in all its tables together; fewer discard the run.")
    let expect = Key(
        "expect", .tables(ExpectationKeys.self),
        "Conditions on the staged rows, each as `[[sources.NAME.requests.expect]]`, checked before the commit.")
    let keepBodies = Key(
        "keep_bodies", .integer(0...ConfigurationLimits.keptBodies), default: .value(0), inherited: .nearest,
        "The number of good bodies to keep beside the store, for `replay`; at most 1,000.")
    let capture = Key(
        "capture", .captures,
        "Values of the response for later requests, as `${capture:NAME}`: for each name a path from the root."
    )
    let page = Key("page", .table(PageKeys.self), "Paging, for a response in several pages: see page.")
    let until = Key(
        "until", .table(UntilKeys.self),
        "Repeats the request until its response has a value, such as the state of a report that the server prepares: see until."
    )
    let forEach = Key(
        "for_each", .table(ForEachKeys.self, short: "rows"),
        "A `SELECT`: the request is sent once for each of its rows, with the columns as `${row:COLUMN}`.")
    let slices = Key(
        "slices", .table(SliceKeys.self),
        "Spans of a time: the request is sent once for each of them, with its bounds as `${slice:from}` and `${slice:to}`: see slices."
    )
    let concurrency = Key(
        "concurrency", .integer(1...ConfigurationLimits.concurrency),
        default: .value(ForEachDeclaration.defaultConcurrency),
        "The number of concurrent requests of a `for_each`, within `per_host`.")
    let maxRequests = Key(
        "max_requests", .integer(1...ConfigurationLimits.maxRequests),
        default: .value(ForEachDeclaration.defaultMaxRequests),
        "The maximum number of rows of a `for_each`.")
}

struct UntilKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable(
        "[sources.NAME.requests.until]", "The repetition of a request until its response has a value.", all)

    let path = Key("path", .path(like: "/json/state"), default: .required, "The path, from the root, of the value.")
    let values = Key(
        "is",
        .strings.checked("names no value") { !$0.isEmpty }.checked("a value must not be empty") { !$0.contains("") },
        default: .required, "The values that end the repetition.")
    let failures = Key("fails", .strings, "The values that discard the run.")
    let every = Key(
        "every", .duration(atLeast: UntilDeclaration.shortestPause), default: .value(UntilDeclaration.defaultPause),
        "The time between a response and the next request, at least `\"1s\"`.")
    let within = Key(
        "within",
        .positiveDuration.checked { limit in
            let most = UntilDeclaration.longestLimit
            return limit > most ? ["expected a duration of at most \(most.configured), found \(limit.configured)"] : []
        }, default: .value(UntilDeclaration.defaultLimit),
        "The time limit from the first request to the response with a value of `is`, at most `\"1d\"`.")
}

struct SliceKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable("[sources.NAME.requests.slices]", "A request for each span of a time.", all)

    let from = Key(
        "from", .sentText, default: .required,
        "The beginning of the first span: a day such as `2026-01-31`, or a time such as `2026-01-31T10:00:00Z`.")
    let to = Key(
        "to", .sentText, default: .described("`\"now\"`"),
        "The end of the last span, in the form of `from`, or `\"now\"`, the beginning of the run.")
    let step = Key(
        "step", .duration(atLeast: SliceDeclaration.shortestStep), default: .value(SliceDeclaration.defaultStep),
        "The length of a span, at least `\"1s\"`.")
    let overlap = Key("overlap", .duration, "The time before `from` at which the first span begins.")
}

struct ForEachKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable(
        "[sources.NAME.requests.for_each]", "A request for each row.", all,
        rules: [.key(all.maxSkipped, requires: all.onError, is: .skip)])

    let rows = Key("rows", .string, default: .required, "The `SELECT`.")
    let onError = Key<ForEachDeclaration.OnError>(
        "on_error", .choice, default: .value(.discard),
        "The treatment of a row whose response is 404 or 410, or whose document does not parse: discard the run, or skip the row and name it in the run's report."
    )
    let maxSkipped = Key(
        "max_skipped", .integer(1...ConfigurationLimits.maxRequests),
        default: .value(ForEachDeclaration.defaultMaxSkipped),
        "The maximum number of rows that `on_error = \"skip\"` may skip.")
}

struct ExpectationKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable(
        "[[sources.NAME.requests.expect]]", "A condition on the staged rows, checked before the commit.", all)

    let sql = Key(
        "sql", .filled, default: .required,
        "The condition that must be true: an expression or a `SELECT` in SQLite's SQL, over the rows of this run, `staged.TABLE`."
    )
    let message = Key(
        "message", .filled, default: .described("the SQL"), "The error message if the condition is not true.")
    let onFailure = Key<Expectation.Failure>(
        "on_failure", .choice, default: .value(.discard),
        "The outcome of the run if the condition is not true: discarded, blocked, or committed with a note.")
}

struct AfterCommitKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable(
        "[sources.NAME.requests.after_commit]", "The action on files after their rows are committed.", all,
        rules: [
            .exactlyOne(
                all.action, all.move, lacking: "names no action", help: "write \"delete\", or { move = \"done/\" }")
        ])

    let action = Key<FileActionWord>("action", .choice, "`delete` deletes the files.")
    let move = Key(
        "move", .string,
        "The folder to which the files are moved: relative to that of the files, or absolute for `file:`.")
}

struct ExpiryKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable("[sources.NAME.requests.expire]", "The age at which rows are deleted.", all)

    let column = Key("column", .string, default: .required, "The column with a row's date.")
    let after = Key("after", .duration, default: .required, "The maximum age of the date.")
}
