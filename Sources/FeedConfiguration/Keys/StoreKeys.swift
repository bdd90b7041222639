import FeedModel

struct StoreKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable("[store]", "The database of the rows.", all, rules: [.atMostOne(all.path, all.url)])

    let path = Key(
        "path", .storePath, default: .value("tributary.sqlite"),
        "The SQLite file, relative to the folder of `sources.toml`.")
    let url = Key("url", .connectionString, "A PostgreSQL database instead of a file: any libpq connection string.")
    let work = Key(
        "work", .string,
        default: .described(
            "`\"tributary-work\"`; under systemd, that folder in the unit's `StateDirectory`, such as `/var/lib/tributary`"
        ),
        "With PostgreSQL: the folder of scratch files, kept bodies and requests to the daemon, relative to `sources.toml`."
    )
    let connections = Key(
        "connections", .integer(4...ConfigurationLimits.connections),
        default: .value(TributaryConfiguration.standard.connections),
        "With PostgreSQL: the maximum number of connections of this process, at least 4.")
    let schema = Key(
        "schema", .string,
        "A file with SQL that runs whenever the store is opened, before tables of mappings are created."
    )
    let schemaAfter = Key(
        "schema_after", .string,
        "A file with SQL for views, triggers, indexes and full-text search over the tables of mappings."
    )
    let history = Key(
        "history", .duration, default: .value(TributaryConfiguration.standard.history),
        "How long runs are kept, with their part of the changelog and their before-images (`keep_history`).")
    let encryptionKey = Key(
        "encryption_key", .encryptionKey,
        "The key of `encrypted` columns and of kept refresh tokens: 32 bytes in hex, for AES-GCM.")
}

struct DaemonKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable(
        "[daemon]", "Concurrency, and the addresses of the page, the metrics and the health check.", all,
        rules: [
            .key(all.token, requires: all.listen),
            .key(all.readToken, requires: all.token, hint: ", the secret of clients that may make changes"),
        ])

    let concurrency = Key(
        "concurrency", .integer(1...ConfigurationLimits.concurrency),
        default: .value(TributaryConfiguration.standard.concurrency),
        "The number of runs that parse a response or commit at a time, at most 10,000.")
    let perHost = Key(
        "per_host", .integer(1...ConfigurationLimits.concurrency),
        default: .value(TributaryConfiguration.standard.perHost),
        "The number of concurrent requests to one host, at most 10,000.")
    let listen = Key(
        "listen", .listenAddress,
        "The IP address and port of the page (`/`), the JSON API (`/api`), `/metrics` and `/healthz`."
    )
    let health = Key(
        "health", .listenAddress,
        "A separate IP address and port for `/healthz`, on its own thread, so that connections to the page never delay it."
    )
    let token = Key(
        "token", .token,
        "The secret that clients of the page, `/api` and `/metrics` must send, even on this machine: at least 16 characters."
    )
    let readToken = Key(
        "read_token", .token, "A second secret, for clients that may see everything and change nothing."
    )
    let metricsPerSource = Key(
        "metrics_per_source", .boolean, default: .value(true),
        "With `false`, no series at `/metrics` has the label `source`; each series then covers all sources of the daemon."
    )
    let rows = Key(
        "rows", .boolean, default: .value(true),
        "With `false`, the page and the API show neither rows nor changed rows, only their numbers.")
}

struct HostKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable("[hosts.NAME]", "Limits for one host: concurrent requests, and their pace.", all)

    let perHost = Key(
        "per_host", .integer(1...ConfigurationLimits.concurrency),
        default: .described("[`per_host`](daemon.md#per_host) of `[daemon]`"),
        "The number of concurrent requests to this host, at most 10,000.")
    let pace = Key(
        "pace", .duration,
        "The minimum time between the starts of two requests to this host: those of all sources, with their redirects, pages, rows, retries and access tokens."
    )
}

/// The form of changed rows in an event.
enum HookFormat: String, Sendable, CaseIterable { case plain, debezium }

struct HookKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable(
        "[hooks.NAME]", "A hook: a program or an address that receives events.", all,
        rules: [
            .exactlyOne(
                all.run, all.post, lacking: "the hook has no receiver",
                help: "name a program ('run') or an address ('post')"),
            .key(all.secret, requires: all.post, hint: ": only what is posted is signed"),
            .key(all.values, requires: all.on, containing: HookEventKind.changed, hint: ": only this event has rows"),
            .key(all.format, requires: all.on, containing: HookEventKind.changed, hint: ": only this event has rows"),
            .key(
                all.condition, requires: all.on, containing: HookEventKind.changed, hint: ": only this event has rows"),
        ])

    let on = Key(
        "on",
        .choices(HookEventKind.declarable).checked("the hook would never receive an event") { !$0.isEmpty },
        default: .requiring(
            help: "name the events that the hook receives: "
                + HookEventKind.declarable.map(\.rawValue).joined(separator: ", ")),
        "The events that the hook receives.")
    let sources = Key(
        "sources", .strings, default: .described("all"),
        "The names of the sources, with `*` for any characters and `?` for one.")
    let after = Key(
        "after", .duration, default: .value(.seconds(3600)), "How long a source must fail before `failing` is sent.")
    let rows = Key(
        "rows", .integer(0...ConfigurationLimits.hookRows), default: .value(100),
        "The maximum number of changed rows in an event, at most 10,000.")
    let values = Key(
        "values", .boolean, default: .value(false),
        "With `true`, events hold each changed row as it was before the change and as it is after.")
    let format = Key<HookFormat>(
        "format", .choice, default: .value(.plain),
        "With `\"debezium\"`, each changed row has the form that Debezium uses, with its values.")
    let condition = Key(
        "where", .condition,
        "Selects the changes that an event reports: an SQL expression over the row before (`old`) and the row after (`new`)."
    )
    let timeout = Key(
        "timeout",
        .duration.checked("an attempt may take from \"1ms\" to \"10m\"") { $0 > .zero && $0 <= .seconds(600) },
        default: .value(.seconds(10)), "The time limit for one attempt, at most `\"10m\"`.")
    let run = Key("run", .templates, "A program and its arguments, without a shell.")
    let post = Key("post", .webAddress, "An `http:` or `https:` address, to which the event is posted as JSON.")
    let secret = Key(
        "secret", .hookSecret,
        "With `post`: the key that signs events, according to Standard Webhooks (`webhook-id`, `webhook-timestamp`, `webhook-signature`)."
    )
}

/// The tables of the file.
struct FileKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable("the file", "The file.", all)

    let include = Key(
        "include", .strings,
        "Further files with sources and hooks, relative to the folder of `sources.toml`; `*` and `?` may stand in the last component."
    )
    let store = TableKey.table("store", StoreKeys.self)
    let daemon = TableKey.table("daemon", DaemonKeys.self)
    let hosts = TableKey.named("hosts", HostKeys.self)
    let defaults = TableKey.table("defaults", DefaultKeys.self)
    let sources = TableKey.named("sources", SourceKeys.self, "The sources.")
    let hooks = TableKey.named("hooks", HookKeys.self)
}

/// What sources and requests inherit.
struct DefaultKeys: KeyGroup {
    static let table = KeyTable(
        "[defaults]", "Values for all sources.", SourceKeys.table.inheritable, rules: SourceKeys.table.rules)
}
