import FeedModel
import FeedStores
import TributaryEngine

/// The schemas of the answers, by the names that the OpenAPI document gives them.
enum AnswerSchemas {
    static let components: [String: JSONSchema] = [
        "Problem": object(["type": .string, "title": .string, "status": .integer, "detail": .string, "error": .string]),
        "Counts": object([
            "inserted": .integer, "updated": .integer, "deleted": .integer, "unchanged": .integer, "replaced": .integer,
        ]),
        "SourceStatus": object(
            Dictionary(
                columns: "source", "last_run", "last_commit", "next_due", "error", "note", "failing_since", "last_good",
                of: OwnTables.sources.table,
                and: [
                    "state": .choice(SourceCondition.allCases.map(\.rawValue)), "outcome": .nullable(outcome),
                    "failures": .integer, "stale": .boolean,
                    "accepted": .nullable(object(["run": .nullable(.integer), "until": .time])),
                    "wait": .nullable(
                        object([
                            "reason": .choice(SourceWait.Reason.allCases.map(\.rawValue)), "until": .nullable(.time),
                        ])),
                ]),
            optional: ["declared": .boolean, "daemon": .nullable(.string), "runner": .nullable(.string)]),
        "HookStatus": object(
            Dictionary(
                columns: "delivered_at", "attempts", "next_attempt", "error", of: OwnTables.hooks.table,
                and: [
                    "hook": .string, "on": .array(.string), "sources": .array(.string), "state": .string,
                    "run": .nullable(.integer), "behind": .integer,
                ])),
        "Request": object(
            [
                "key": .string, "status": .nullable(.integer),
                "outcome": .choice(RequestOutcome.allCases.map(\.rawValue)), "bytes": .integer, "seconds": .number,
            ], optional: ["note": .string]),
        "Run": object(run, optional: runOptional),
        "RecordedRun": object(
            Dictionary(
                columns: "polls", "started_at", "finished_at", "restored", of: OwnTables.runs.table,
                and: run.merging(["run": .nullable(.integer)]) { $1 }),
            optional: runOptional),
        "RejectedRecord": object(
            Dictionary(
                columns: "id", "run", "source", "request", "table", "key", "column", "reason", "record",
                of: OwnTables.rejected.table)),
        "Change": object(
            [
                "run": .integer, "source": .string, "started_at": .time, "table": .string, "operation": operation,
                "key": .map(.any), "changed_since": .boolean,
            ], optional: ["old": .map(.any), "new": .map(.any)]),
        "ChangelogLine": object(
            ["line": .choice(["change", "commit", "forgotten", "held_up"])],
            optional: [
                "id": .integer, "run": .integer, "source": .string, "table": .string, "key": .any,
                "operation": operation, "finished_at": .time, "inserted": .integer, "updated": .integer,
                "deleted": .integer, "after": .integer, "first": .integer, "message": .string,
            ]),
        "ReviewedTable": object([
            "table": .string, "inserted": .integer, "updated": .integer, "deleted": .integer,
        ]),
        "Cell": object(["column": .string, "value": .any]),
        "ReviewedRow": object([
            "table": .string, "operation": operation, "key": .array(.named("Cell")), "old": .array(.named("Cell")),
            "new": .array(.named("Cell")),
        ]),
        "Review": object(
            ["run": .integer, "source": .string],
            optional: [
                "counts": .named("Counts"), "tables": .array(.named("ReviewedTable")), "omitted": .integer,
                "rows": .array(.named("ReviewedRow")),
            ]),
        "PlannedTable": object([
            "table": .string, "inserted": .array(.map(.any)), "deleted": .array(.map(.any)), "counts": .named("Counts"),
            "updated": .array(object(["key": .map(.any), "changes": .map(.array(.any))])),
        ]),
        "Drift": object([
            "request": .string, "unmapped": .array(.string), "empty": .array(.string), "omitted": .integer,
        ]),
        "UnmatchedPath": object(["request": .string, "path": .string, "count": .integer]),
        "Plan": object(
            [
                "source": .string, "inserted": .integer, "updated": .integer, "deleted": .integer,
                "unchanged": .integer,
                "skipped": .integer, "tables": .array(.named("PlannedTable")), "requests": .array(.named("Request")),
                "unmatched_elements": .array(.named("UnmatchedPath")),
                "unmatched_columns": .array(.named("UnmatchedPath")),
            ], optional: ["blocked": .string, "digest": .string]),
        "TriedTable": object(
            [
                "table": .string, "key": .array(.string), "columns": .array(.string), "count": .integer,
                "rows": .array(.array(.any)),
            ], optional: ["reason": .string]),
        "Trial": object([
            "toml": .string, "tables": .array(.named("TriedTable")),
            "unmapped": .array(object(["path": .string, "count": .integer])), "empty": .array(.string),
            "skipped": .integer, "notes": .array(.string), "problems": .array(.string),
        ]),
        "Table": object([
            "name": .string, "columns": .array(object(["name": .string, "type": .string])), "key": .array(.string),
            "sources": .array(.string),
        ]),
        "Operation": object([
            "method": .string, "path": .string, "summary": .string,
            "parameters": .array(object(["name": .string, "type": .string, "meaning": .string])),
        ]),
    ]

    static let status = object([
        "sources": .array(.named("SourceStatus")), "hooks": .array(.named("HookStatus")),
        "daemon": object(["running": .boolean], optional: ["names": .array(.string)]),
    ])
    static let history = object(["runs": .array(.named("RecordedRun"))])
    static let rejected = object(["rejected": .array(.named("RejectedRecord")), "next": .nullable(.integer)])
    static let reviews = object(["blocked": .array(.named("Review"))])
    static let accepted = object(["accepted": .array(.string), "until": .time], optional: ["runs": .array(.integer)])
    static let rows = object(["table": .string, "rows": .array(.map(.any)), "next": .nullable(.string)])
    static let index = object(["version": .string, "openapi": .string, "operations": .array(.named("Operation"))])

    static func object(_ fields: [String: JSONSchema], optional: [String: JSONSchema] = [:]) -> JSONSchema {
        .object(required: fields, optional: optional)
    }

    private static let outcome = JSONSchema.choice(RunOutcome.allCases.map(\.rawValue))
    private static let operation = JSONSchema.choice(ChangeReview.Row.Operation.allCases.map(\.rawValue))
    private static let run = Dictionary(
        columns: "source", "inserted", "updated", "deleted", "unchanged", "replaced", "skipped", "bytes", "seconds",
        "error",
        of: OwnTables.runs.table,
        and: ["outcome": outcome, "requests": .array(.named("Request")), "drift": .array(.named("Drift"))])
    private static let runOptional: [String: JSONSchema] = [
        "kind": .choice(RunKind.allCases.map(\.rawValue)), "note": .string, "rejected": .string,
    ]
}
