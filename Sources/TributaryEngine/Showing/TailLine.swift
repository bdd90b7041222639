package import FeedModel
import Foundation

/// A line of `tail`.
package struct TailLine: Encodable, Sendable {
    package enum Content: Sendable {
        /// A row of the changelog.
        case change(ChangelogEntry)
        /// The end of a commit, after its rows.
        case commit(last: Int64)
        /// Rows were deleted from the changelog, before the first existing one.
        case forgotten(after: Int64, first: Int64)
        /// Runs were deleted while the lines before were written.
        case runsForgotten(after: Int64)
        /// Commits wait for an older open transaction at the server.
        case heldUp
    }

    package var content: Content
    package var run: ChangelogRun?
    /// The form of a row.
    package var format: ChangeFormat

    package init(_ content: Content, of run: ChangelogRun? = nil, format: ChangeFormat = .key) {
        self.content = content
        self.run = run
        self.format = format
    }

    package func encode(to encoder: any Encoder) throws {
        var object: JSONObject = ["line": kind, "run": run?.position.run, "source": run?.report.source]
        switch content {
        case .change(let change):
            if format == .debezium, let run {
                return try DebeziumChange(
                    change, source: run.report.source, run: run.position.run, time: run.finishedAt
                ).encode(to: encoder)
            }
            try change.encode(to: encoder)
        case .commit(let last):
            object["finished_at"] = run?.finishedAt
            object["inserted"] = run?.report.counts.inserted
            object["updated"] = run?.report.counts.updated
            object["deleted"] = run?.report.counts.deleted
            object["after"] = last
        case .forgotten(let after, let first):
            (object["after"], object["first"], object["message"]) = (after, first, message)
        case .runsForgotten, .heldUp: object["message"] = message
        }
        try object.encode(to: encoder)
    }

    private var kind: String {
        switch content {
        case .change: "change"
        case .commit: "commit"
        case .forgotten, .runsForgotten: "forgotten"
        case .heldUp: "held_up"
        }
    }

    private var message: String {
        switch content {
        case .change, .commit: ""
        case .forgotten(let after, let first):
            "the changelog begins with row \(first): the rows between \(after) and it are deleted"
        case .runsForgotten(let after):
            "the commits that followed row \(after) were deleted before they could be read"
        case .heldUp:
            "commits are not shown yet, because an older transaction is open at the server; they follow when it has "
                + "ended"
        }
    }

    /// The line as text.
    package var text: String {
        switch content {
        case .change(let change):
            "\(change.id)  \(run?.report.source ?? "")  \(change.operation)  \(change.table)  \(change.key.shown)"
                + (change.images.map { "  \($0.shown)" } ?? "")
        case .commit(let last):
            if let run {
                "-- \(run.report.source): run \(run.position.run), up to row \(last): \(Figures.changes(run.report)), "
                    + run.finishedAt.formatted(.iso8601)
            } else {
                ""
            }
        case .forgotten, .runsForgotten, .heldUp: "-- \(message)"
        }
    }
}

extension RowImages {
    /// The values as text: those that differ, or all values of an only row.
    fileprivate var shown: String {
        func values(_ row: [Value]) -> [(column: String, value: StoredValue)] { row.map { ($0.column, $0.value) } }
        return switch (before, after) {
        case (let before?, let after?): PlanReport.changes(values(before), values(after))
        case (let row?, nil), (nil, let row?): PlanReport.text(values(row))
        case (nil, nil): "(not known)"
        }
    }
}

extension StoredValue {
    /// The value without quotes, and on one line.
    fileprivate var shown: String {
        guard case .text(let text) = self else { return description }
        return text.escapedForTerminal() == text ? text : description
    }
}
