package import FeedModel
import Foundation

/// Tributary's own tables. A new column is one line here, and a migration of each store.
package enum OwnTables {
    package static let all = [
        runs.table, changes.table, sources.table, requests.table, listings.table, hosts.table, acceptances.table,
        hooks.table, hookSources.table, claims.table, logins.table, daemons.table, rejected.table, refreshes,
        migrations, schemas,
    ]

    /// Returns the statements that create the tables of a store.
    package static func creation(_ dialect: TableDialect) -> String {
        all.filter { dialect.has($0.scope) }.map { $0.creation(dialect) }.joined()
    }

    /// The columns that `move-store` copies from one store to another, by table.
    package static let moved = all.filter(\.moves).reduce(into: [String: [String]]()) { moved, table in
        moved[table.name] = table.columns.filter { $0.moves && $0.scope == .everywhere }.map(\.name)
    }

    package static let runs = RowTable(
        "tributary_run",
        "One row for each run. Polls that have the same answers as the unchanged one before them have no row of their own: "
            + "that row counts them, for a day. Runs are deleted after [`history`](Reference/store.md#history).",
        key: ["id"], blank: RunRow(report: RunReport(source: "", outcome: .discarded, startedAt: .distantPast)),
        moves: true,
        indexes: [
            OwnIndex("tributary_run_source", ["source", "id"]),
            OwnIndex("tributary_run_started_at", ["started_at"]),
            OwnIndex("tributary_run_transaction", ["transaction", "id"], in: .concurrent),
            OwnIndex("tributary_run_changing", ["transaction", "id"], present: "first_change"),
        ]
    ) { t in
        t.column("id", \.report.number, "the run's number", isWritten: false)
        t.column("source", \.report.source, "the source's name")
        t.column("kind", \.report.kind, "`replay`, `purge` or `undo`; NULL for a refresh")
        t.column("polls", \.report.polls, "the number of polls that the row counts; 1 for all but unchanged runs")
        t.column(
            "started_at", \.report.startedAt, "when it began and ended; of several polls, the first and the last one")
        t.column("finished_at", \.report.finishedAt)
        t.column(
            "outcome", \.report.outcome,
            "`committed`, `unchanged`, `discarded`, `blocked` or `cancelled`: see [outcomes](Commands.md#outcomes)")
        t.column("inserted", \.report.counts.inserted, "rows that the commit changed")
        t.column("updated", \.report.counts.updated)
        t.column("deleted", \.report.counts.deleted)
        t.column("unchanged", \.report.counts.unchanged, "rows of the feed that did not differ from the store")
        t.column("replaced", \.report.counts.replaced, "rows of the feed that a later one with the same key replaced")
        t.column("skipped", \.report.skipped, "records that the mapping skips")
        t.column(
            "bytes", \.report.bytes,
            "the size of all bodies, and the duration, of several polls that of the longest. A body compressed for its transfer counts decompressed; an archive of "
                + "[`documents`](Reference/requests.md#documents) counts as the archive")
        t.column("seconds", \.report.seconds)
        t.column("error", \.report.error, "the reason for a discarded or blocked run, or NULL", isCleaned: true)
        t.column(
            "requests", \.report.requests,
            "its requests, of several polls those of the longest, as JSON: `key`, `status`, `outcome`, `bytes`, `seconds` (excluding the wait for the host), and `note`, "
                + "if there is a remark on its documents")
        t.column(
            "failing_since", \.report.failingSince,
            "when the first of the consecutive failed runs began, up to this one")
        t.column("first_change", \.firstChange, "the first and last ids of its entries in the changelog")
        t.column("last_change", \.lastChange, isWritten: false)
        t.column("history", \.hasHistory, "true if before-images were kept", initially: .zero, moves: false)
        t.column(
            "drift", \.report.driftText,
            "how its documents differ in form from earlier ones, as [JSON](Commands.md#a-run-in-json), or NULL")
        t.column(
            "rejected", \.report.rejection,
            "the number of records that [`on_error`](Reference/columns.md#on_error) has left out, with the first three reasons, or "
                + "NULL", isCleaned: true)
        t.column("restored", \.report.restoredRun, "for an `undo`: the run whose rows it restored")
        t.column(
            "transaction", \.transaction, "the transaction that wrote it", in: .concurrent, isWritten: false)
    }

    /// Reads runs without the reports of their requests.
    static let runsAlone = runs.reader(without: ["requests"])

    package static let changes = RowTable(
        "tributary_change", "The changelog: one row for each row that a commit changed.", key: ["id"],
        blank: ChangelogEntry(id: 0, table: "", key: .null, operation: ""), moves: true
    ) { t in
        t.column("id", \.id, "grows with each change")
        t.other("run", .integer, "the run's number")
        t.column("table", \.table, "the table's name")
        t.column(
            "key", \.key,
            "the row's key; a JSON array for a key of several columns; the row id for a table without a key. On PostgreSQL, "
                + "always text")
        t.column("operation", \.operation, "`insert`, `update` or `delete`")
        t.other("transaction", .transaction, "the transaction that wrote it", in: .concurrent)
    }

    package static let sources = RowTable(
        "tributary_source", "The state of a source.", key: ["source"], blank: SourceState(source: ""), as: "s",
        moves: true,
        indexes: [OwnIndex("tributary_source_failing_since", ["failing_since"], present: "failing_since")]
    ) { t in
        t.column("source", \.source, "its name")
        t.column("outcome", \.outcome, "the outcome and the start of its last run")
        t.column("last_run", \.lastRun)
        t.column("last_commit", \.lastCommit, "when its last committed run ended")
        t.column("next_due", \.nextDue, "when it is due next")
        t.column(
            "wait", \.wait,
            "the seconds from the last run until `next_due`; changing the system clock never lengthens the wait")
        t.column("failures", \.failures, "consecutive failed runs; NULL before the first run", isNullable: true)
        t.column("failing_since", \.failingSince, "when the first of them began")
        t.column(
            "last_good", \.lastGood,
            "when its last good run ended; a good run sent requests and was committed or unchanged")
        t.column("error", \.error, "the reason for the last failure", isCleaned: true)
        t.column(
            "note", \.note,
            "the note of the last run, the wait of a run in progress (`until`), a moved address, a feed that is gone, or the "
                + "end of an answer's freshness, in words",
            isCleaned: true)
        t.column(
            "blocked", \.isBlocked,
            "true if a run exceeded `max_deleted` or `max_changed` or missed an expectation, and waits for `accept`. Later "
                + "failures do not change it", initially: .zero)
        t.column(
            "gone", \.gone,
            "the declaration for which a server answered 410. No request is sent until the declaration changes",
            isCleaned: true)
        t.column(
            "asked_until", \.askedUntil,
            "the end of the server's `Retry-After`; without one, a minute after a 429 or 503")
        t.column("declared", \.declared, "the declaration for which `next_due` was computed", isCleaned: true)
        t.column(
            "origin", \.origin, "scheme, name and port of the server that its last run asked first", isCleaned: true)
        t.column(
            "attempts", \.attempts,
            "consecutive runs during which the process died; at three the source is paused", initially: .zero)
        t.column(
            "undone", \.undone, "as JSON: the versions of the undone feed, which are not committed again",
            isWritten: false)
        t.column(
            "paused_at", \.pausedAt,
            "when [`pause`](Commands.md#pause) paused the source; nothing is fetched until `resume`",
            isWritten: false)
        t.other("holder", .text, "the daemon that is running the source", isNullable: true, in: .shared)
        t.other("held_until", .time, "the end of its lease", isNullable: true, in: .shared)
        t.other(
            "lease", .integer, "the fencing token, a number that grows with each lease; the commit checks it",
            initially: .zero, in: .shared)
    }

    package static let requests = RowTable(
        "tributary_request",
        "The state of a request. It belongs to the rows that the request has written, and is deleted with them.",
        key: ["source", "key"],
        blank: RequestRow(
            source: "", state: RequestState(key: "", validators: Validators(), fingerprint: "", sync: .upsert)),
        as: "r"
    ) { t in
        t.column("source", \.source, "the source, and the request's key")
        t.column("key", \.state.key)
        t.column("etag", \.state.validators.etag, "the validators, byte for byte as the server sent them")
        t.column("last_modified", \.state.validators.lastModified)
        t.column(
            "fingerprint", \.state.fingerprint,
            "a fingerprint of the declaration and the parser's version. The validators are valid only while the fingerprint "
                + "is the same")
        t.column("tables", \.state.tables, "the tables that it wrote; a JSON array, on PostgreSQL an array")
        t.column("sync", \.state.sync, "its sync mode, and its scope as JSON")
        t.column("scope", \.state.scope)
        t.column(
            "digest", \.state.digest,
            "SHA-256 of the documents of the last commit, if they are "
                + "[compared](Commits.md#which-documents-are-compared)")
        t.column(
            "moved_to", \.state.movedTo,
            "the target of a permanent redirect, and how many times in a row the server named it")
        t.column("moved_times", \.state.movedTimes, initially: .zero)
        t.column(
            "schema", \.state.schema,
            "for each of its tables: the number of columns, their hash, and `+` if the table had rows")
        t.column("bodies", \.state.bodyNames, "the names of kept bodies, the latest first")
        t.column(
            "shape", \.state.shape,
            "as JSON: the paths and columns that its documents have had, and the number of pages of the last ones, for the event "
                + "[`drifted`](Reference/hooks.md#drift)")
    }

    package static let listings = RowTable(
        "tributary_listing",
        "The documents of the folder that a request has read, so that the next run reads only the changed ones "
            + "([`documents`](Reference/requests.md#documents)).",
        key: ["source", "key"],
        blank: ListingRow(source: "", key: "", version: "", documents: ListedDocuments())
    ) { t in
        t.column("source", \.source, "the source, and the request's key")
        t.column("key", \.key)
        t.column(
            "version", \.version,
            "the validator of the listing. The row is valid only while it is the `etag` of the request")
        t.column(
            "documents", \.documents.text,
            "for each document a hash of its name and version, the number of its keys, and hashes of these: numbers of 64 bits, as "
                + "base 64, 8 MiB at most")
    }

    static let claims = RowTable(
        "tributary_claim", "The claim of a request on rows of one of its tables: those within its scope.",
        key: ["source", "key", "table"],
        blank: ClaimRow(
            "", RequestState(key: "", validators: Validators(), fingerprint: "", sync: .upsert), table: ""),
        indexes: [OwnIndex("tributary_claim_table", ["table", "columns", "folded"])]
    ) { t in
        t.column("source", \.source, "the source, and the request's key")
        t.column("key", \.key)
        t.column("table", \.table, "the table's name in lower case")
        t.column("scope", \.scope, "the request's scope as JSON")
        t.column("columns", \.columns, "a hash of the names of the scope's columns; 0 for a scope without any")
        t.column(
            "folded", \.folded,
            "a hash of the scope's values that does not depend on case, white space and the notation of numbers; 0 if a value "
                + "may be equal to any other")
    }

    package static let hosts = RowTable(
        "tributary_host", "Hosts that have asked for a pause.", key: ["origin"],
        blank: HostRow(origin: "", notBefore: .distantPast, wait: nil), moves: true
    ) { t in
        t.column("origin", \.origin, "scheme, name and port")
        t.column("not_before", \.notBefore, "the end of the pause")
        t.column("wait", \.wait, "its length in seconds")
    }

    package static let acceptances = RowTable(
        "tributary_acceptance", "Permissions that [`accept`](Commands.md#accept) has given.", key: ["source"],
        blank: Acceptance(source: "", run: nil, until: .distantPast)
    ) { t in
        t.column("source", \.source, "the source")
        t.column("until", \.until, "when the permission ends")
        t.column(
            "run", \.run,
            "the blocked run whose documents are accepted; NULL accepts the next commit, with any changes")
    }

    package static let hooks = RowTable(
        "tributary_hook", "The position of a [hook](Reference/hooks.md).", key: ["name"],
        blank: HookState(name: "", position: .start), moves: true
    ) { t in
        t.column("name", \.name, "its name")
        t.column("run", \.position.run, "the last run that was delivered or passed over")
        t.column("step", \.step, "0 if all events of that run were delivered", initially: .zero)
        t.column("delivered_at", \.deliveredAt, "when the last event was delivered")
        t.column("attempts", \.attempts, "attempts to deliver the next event", initially: .zero)
        t.column("next_attempt", \.nextAttempt, "the time of the next attempt")
        t.column("error", \.error, "why the last attempt failed")
        t.column(
            "gone", \.gone,
            "the receiver that answered 410. The hook sends no events until you declare another receiver")
        t.column("pending", \.pending, "the `failing` or `stale` event that is delivered next, as JSON")
        t.column("transaction", \.position.transaction, "the transaction of that run", in: .concurrent)
        t.other("holder", .text, "the daemon that serves it", isNullable: true, in: .shared)
        t.other("held_until", .time, "the end of that daemon's lease", isNullable: true, in: .shared)
    }

    package static let hookSources = RowTable(
        "tributary_hook_source", "Conditions of a source that a hook has been notified of, and that have not ended.",
        key: ["hook", "source"], blank: HookSourceRow(hook: "", source: "", memory: HookMemory()), moves: true,
        indexes: [OwnIndex("tributary_hook_source_source", ["source"])]
    ) { t in
        t.column("hook", \.hook, "the hook and the source")
        t.column("source", \.source)
        t.column("failing", \.memory.isFailing, "true after a `failing` event")
        t.column("blocked", \.memory.isBlocked, "true after a `blocked` event")
        t.column("stale", \.memory.isStale, "true after a `stale` event", initially: .zero)
    }

    static let logins = RowTable(
        "tributary_login",
        "Logins at services whose [refresh token](Reference/auth.md#oauth2grant) changes. Several requests and sources may "
            + "have the same one. Without its row, a login begins with the declared token, which the server may have used up.",
        key: ["login"], blank: LoginRow(login: ""), moves: true
    ) { t in
        t.column(
            "login", \.login,
            "a digest of the token server and the client, keyed with the declared refresh token: another declared token is "
                + "another login")
        t.column(
            "token", \.token,
            "the newest refresh token, encrypted with [`encryption_key`](Reference/store.md#encryption_key); NULL if it is "
                + "the declared one")
        t.column("renewed_at", \.renewedAt, "when the server issued it")
        t.column(
            "holder", \.holder, "the exchange of the token that is in progress, and when its right to it ends",
            moves: false)
        t.column("held_until", \.heldUntil, moves: false)
    }

    package static let daemons = RowTable(
        "tributary_daemon", "the daemons that share the store.", key: ["id"],
        blank: DaemonRecord(id: "", name: "", startedAt: .distantPast, declared: DeclaredSources([:])), in: .shared
    ) { t in
        t.column("id", \.id, "the daemon; its name consists of host and process")
        t.column("name", \.name)
        t.column("started_at", \.startedAt, "its start, and its last heartbeat")
        t.other("seen_at", .time)
        t.other("declared", .text, "a fingerprint of its configuration")
        t.other("sources", .json, "the sources that it declares, by host, as JSON")
        t.column("sharing", \.sharing, "a fingerprint of the daemons that it knows of")
    }

    package static let rejected = RowTable(
        "tributary_rejected",
        "The records that committed runs have left out by [`on_error`](Reference/columns.md#on_error): at most 1,000, and 64 MiB, for "
            + "a run. They are deleted with their run, and by `purge`.",
        key: ["id"], blank: RejectedRow(run: 0, source: "", record: RejectedRecord(reason: "", record: "")),
        moves: true,
        indexes: [
            OwnIndex("tributary_rejected_run", ["run", "id"]), OwnIndex("tributary_rejected_source", ["source", "id"]),
        ]
    ) { t in
        t.column("id", \.id, "grows with each record", isWritten: false)
        t.column("run", \.run, "the run's number, its source, and the request's key")
        t.column("source", \.source)
        t.column("request", \.record.request)
        t.column("table", \.record.table, "the table's name; NULL for a line that is not CSV", isCleaned: true)
        t.column(
            "key", \.record.key, "the record's key, as the feed has it; a JSON array for a key of several columns",
            isCleaned: true)
        t.column("column", \.record.column, "the column whose value does not convert or is missing", isCleaned: true)
        t.column("reason", \.record.reason, "the reason, which names the place and the value", isCleaned: true)
        t.column(
            "record", \.record.record,
            "the record, up to 64 KiB: a JSON object with the texts of the mapped columns, without those that are encrypted; "
                + "or the text of a line that is not CSV", isCleaned: true)
    }

    static let refreshes = OwnTable(
        "tributary_refresh",
        "the requests of `refresh`, `accept` and `resume` to the daemons. They are deleted after an hour.",
        key: ["id"], in: .shared
    ) {
        OwnColumn("id", .integer, "the request")
        OwnColumn("sources", .texts, "the names of the sources; empty for all")
        OwnColumn("asked_at", .time, "when it was made", initially: .now)
    }

    static let migrations = OwnTable(
        "tributary_migration",
        "The migrations of Tributary's own tables, and the versions that applied them. A program refuses a store with an "
            + "unknown migration, and names the version to install. On SQLite, GRDB also keeps the names in "
            + "`grdb_migrations`.",
        key: ["name"]
    ) {
        OwnColumn("name", .text, "the migration")
        OwnColumn("applied_at", .time, "when it was applied", initially: .now)
        OwnColumn("program", .text, "the program that applied it, such as `1.0.0 (6ea533f)`")
    }

    static let schemas = OwnTable(
        "tributary_schema", "The SQL files of the configuration that have run.", key: ["name"]
    ) {
        OwnColumn("name", .text, "`schema_after`")
        OwnColumn(
            "digest", .text,
            "a hash of its text. If it differs from the file, or the row is missing, the next start runs the file")
        OwnColumn("applied_at", .time, "when it ran")
    }
}
