import FeedDeclarations
import FeedModel

struct StoreKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable("[store]", "Where the rows are kept.", all)

    let path = Key.string(
        "path", default: .value("tributary.sqlite"), "The SQLite file, relative to the folder of `sources.toml`.")
    let url = Key.string("url", "A PostgreSQL database instead of a file: any connection string of libpq.")
    let work = Key.string(
        "work",
        default: .described(
            "`\"tributary-work\"`; under systemd, that folder in the unit's `StateDirectory`, such as `/var/lib/tributary`"
        ),
        "With a store on a server: the folder, relative to `sources.toml`, for files that stay on this machine, such as the scratch files of large runs, kept bodies, and requests to the daemon."
    )
    let connections = Key.integer(
        "connections", 4...ConfigurationLimits.connections, default: .value(16),
        "With a store on a server: the most connections of this process, 4 or more.")
    let schema = Key.string(
        "schema", "A file with SQL that is run each time the store is opened, before any table of a mapping is created."
    )
    let schemaAfter = Key.string(
        "schema_after", "SQL for views, triggers, indexes and full-text search over the tables of mappings.")
    let history = Key.duration(
        "history", default: .value(.seconds(90 * 86_400)),
        "How long runs are kept, with their part of the changelog and the rows of `keep_history`.")
    let encryptionKey = Key.string(
        "encryption_key", "The key of the columns that are `encrypted`: 32 bytes in hex, for AES-GCM.")
}

struct DaemonKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable(
        "[daemon]", "Concurrency, and the addresses of the page, the metrics and the health check.", all)

    let concurrency = Key.integer(
        "concurrency", 1...ConfigurationLimits.concurrency, default: .value(8),
        "How many runs go on at the same time, at most 10,000.")
    let perHost = Key.integer(
        "per_host", 1...ConfigurationLimits.concurrency, default: .value(2),
        "How many requests go to one host at the same time, at most 10,000.")
    let listen = Key.string(
        "listen",
        "The IP address and port of the daemon's page at `/`, the same as JSON below `/api`, `/metrics` and `/healthz`."
    )
    let health = Key.string(
        "health",
        "An IP address and a port where the daemon answers `/healthz` and nothing else, on a socket and a thread of its own: no number of connections to the page delays it."
    )
    let token = Key.text(
        "token",
        "The secret that clients send for the page, `/api` and `/metrics`, also from this machine: at least 16 characters."
    )
    let readToken = Key.text(
        "read_token", "A second secret, whose clients see everything that those with `token` see, and change nothing."
    )
    let metricsPerSource = Key.boolean(
        "metrics_per_source", default: true, "With `false` no series at `/metrics` is labelled with a source.")
    let rows = Key.boolean(
        "rows", default: true, "With `false` nothing below `/tables` and `/api/tables` shows the rows of the store.")
}

struct HostKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable("[hosts.NAME]", "How many requests one host gets at a time, and how often.", all)

    let perHost = Key.integer(
        "per_host", 1...ConfigurationLimits.concurrency,
        default: .described("[`per_host`](daemon.md#per_host) of `[daemon]`"),
        "The most requests at the same time to this host, at most 10,000.")
    let pace = Key.duration(
        "pace",
        "The least time from the beginning of a request to this host to the beginning of the next one, whatever source, redirect, page, row, repetition or access token it is for. (A request that is sent again because its connection was closed or given up before the server took it counts as the same.)."
    )
}

/// The form of changed rows in an event.
enum HookFormat: String, Sendable, CaseIterable { case plain, debezium }

struct HookKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable("[hooks.NAME]", "A hook: a program or an address that receives events.", all)

    let on = Key.strings("on", default: .required, "The events that the hook receives.")
    let sources = Key.strings(
        "sources", default: .described("all"), "The names of the sources, with `*` for any characters and `?` for one.")
    let after = Key.duration(
        "after", default: .value(.seconds(3600)), "How long a source must fail before `failing` is sent.")
    let rows = Key.integer(
        "rows", 0...ConfigurationLimits.hookRows, default: .value(100),
        "The most changed rows that an event holds, at most 10,000.")
    let values = Key.boolean(
        "values", default: false, "With `true` events hold each changed row as it was before and as it is after.")
    let format = Key.choice(
        "format", default: .value(HookFormat.plain),
        "With `\"debezium\"` each changed row has the form in which Debezium writes it, with its values.")
    let condition = Key.condition(
        "where", "The changes that the hook hears of: an SQL expression over a row before (`old`) and after (`new`).")
    let timeout = Key.duration("timeout", default: .value(.seconds(10)), "The time for one attempt, at most `\"10m\"`.")
    let run = Key.strings("run", "A program and its arguments, without a shell.")
    let post = Key.text("post", "An `http:` or `https:` address, to which the event is posted as JSON.")
    let secret = Key.text(
        "secret",
        "With `post`: the key by which events are signed, as Standard Webhooks has it (`webhook-id`, `webhook-timestamp`, `webhook-signature`)."
    )
}
