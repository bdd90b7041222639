import FeedModel
import FeedStores
import Foundation
import Testing
import TributaryEngine

@testable import TributaryWeb

/// `answers.json` beside the types and tables whose values it describes.
struct AnswerSchemasTests {
    private let schemas: AnswerSchemas

    init() throws {
        schemas = try JSONDecoder().decode(AnswerSchemas.self, from: Data(PackageResources.answers_json))
    }

    private static func choices(in value: JSONValue) -> [JSONValue] {
        switch value {
        case .object(let members): members.flatMap { $0 == "enum" ? [$1] : choices(in: $1) }
        case .array(let elements): elements.flatMap(choices)
        case .string, .boolean: []
        }
    }

    @Test func choicesAreThoseOfTheProgram() {
        let known = [
            SourceCondition.allCases.map(\.rawValue), RunOutcome.allCases.map(\.rawValue),
            SourceWait.Reason.allCases.map(\.rawValue), RequestOutcome.allCases.map(\.rawValue),
            RunKind.allCases.map(\.rawValue), ChangeReview.Row.Operation.allCases.map(\.rawValue),
            ["change", "commit", "forgotten", "held_up"],
        ]
        let found = schemas.schemas.values.flatMap(Self.choices)
        for values in known {
            #expect(found.contains(.array(values.map(JSONValue.string))), "\(values)")
        }
        for choice in found {
            #expect(known.contains { choice == .array($0.map(JSONValue.string)) }, "\(choice)")
        }
    }

    private static let columns: [(schema: String, table: OwnTable, names: [String])] = [
        (
            "SourceStatus", OwnTables.sources.table,
            ["last_run", "last_commit", "next_due", "error", "note", "failing_since", "last_good"]
        ),
        ("HookStatus", OwnTables.hooks.table, ["delivered_at", "attempts", "next_attempt", "error"]),
        (
            "Run", OwnTables.runs.table,
            [
                "source", "inserted", "updated", "deleted", "unchanged", "replaced", "skipped", "bytes", "seconds",
                "error",
            ]
        ),
        ("RecordedRun", OwnTables.runs.table, ["polls", "started_at", "finished_at", "restored"]),
        (
            "RejectedRecord", OwnTables.rejected.table,
            ["id", "run", "source", "request", "table", "key", "column", "reason", "record"]
        ),
    ]

    @Test func fieldsHaveTheTypesOfTheirColumns() throws {
        for (name, table, names) in Self.columns {
            guard case .object(let schema)? = schemas.schemas[name], case .object(let fields)? = schema["properties"]
            else {
                Issue.record("no schema \(name)")
                continue
            }
            for field in names {
                let column = try #require(table.columns.first { $0.name == field }, "\(table.name).\(field)")
                #expect(fields[field] == Self.schema(of: column), "\(name).\(field)")
            }
        }
    }

    private static func schema(of column: OwnColumn) -> JSONValue {
        func type(_ name: String) -> JSONValue { .object(["type": .string(name)]) }
        let schema: JSONValue =
            switch column.type {
            case .text, .transaction: type("string")
            case .integer: type("integer")
            case .real: type("number")
            case .boolean: type("boolean")
            case .time: .object(["type": .string("string"), "format": .string("date-time")])
            case .texts: .object(["type": .string("array"), "items": type("string")])
            case .json, .key: .object([:])
            }
        return column.isNullable ? .object(["anyOf": .array([schema, type("null")])]) : schema
    }
}
