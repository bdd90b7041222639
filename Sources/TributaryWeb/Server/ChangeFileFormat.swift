import FeedModel
import FeedStores
import Foundation
import TributaryEngine

/// How changed rows are written for programs.
enum ChangeFileFormat: String, CaseIterable, Sendable {
    /// RFC 4180, a line for each value: of an updated row, for those that differ.
    case csv
    /// One array of objects.
    case json
    /// An object a line (https://jsonlines.org).
    case lines

    private static let columns = ["table", "operation", "key", "column", "before", "after"]

    /// Returns a name without the suffix of a file, and the format of the suffix; nil for a name without one.
    static func split(_ name: String) -> (name: String, format: ChangeFileFormat?) {
        for format in [csv, json] where name.hasSuffix("." + format.rawValue) {
            return (String(name.dropLast(format.rawValue.count + 1)), format)
        }
        return (name, nil)
    }

    var contentType: String {
        switch self {
        case .csv: RowFormat.csv.contentType
        case .json: "application/json"
        case .lines: "application/jsonl"
        }
    }

    /// What comes before the first change.
    var start: String {
        switch self {
        case .csv: RowFormat.csv.start(Self.columns)
        case .json: "["
        case .lines: ""
        }
    }

    /// What comes behind the last change.
    var end: String { self == .json ? "\n]\n" : "" }

    /// Returns a change, as `changes --json` has it, or as lines of CSV.
    ///
    /// - Parameter isFirst: true for the first one of all.
    func text(_ change: RowChange, isFirst: Bool) throws -> String {
        switch self {
        case .csv: Self.csv(change)
        case .json: (isFirst ? "\n" : ",\n") + (try JSONOutput.line(ChangeRecord(change)))
        case .lines: try JSONOutput.line(ChangeRecord(change)) + "\n"
        }
    }

    /// Returns a change that may be made, as `/api/review` has it, or as lines of CSV.
    func text(_ row: ChangeReview.Row, isFirst: Bool) throws -> String {
        guard self != .csv else { return Self.csv(RowChange(row)) }
        return (isFirst ? "\n" : ",\n") + (try JSONOutput.line(row))
    }

    private static func csv(_ change: RowChange) -> String {
        let key = RowFormat.object(change.key.map(\.column), change.key.map(\.value))
        let old = Dictionary(change.old ?? []) { first, _ in first }
        let new = Dictionary(change.new ?? []) { first, _ in first }
        let isUpdate = change.old != nil && change.new != nil
        let names = (change.old ?? change.new ?? []).map(\.column).filter { !isUpdate || old[$0] != new[$0] }
        return names.map { name in
            let values: [StoredValue] = [
                .text(change.table), .text(change.operation), .text(key), .text(name), old[name] ?? .null,
                new[name] ?? .null,
            ]
            return RowFormat.csv.row(columns, values, isFirst: false)
        }.joined()
    }
}

extension RowChange {
    /// A change that may be made.
    init(_ row: ChangeReview.Row) {
        func values(_ cells: [ChangeReview.Cell]) -> Values { cells.map { ($0.column, $0.value) } }
        self.init(
            run: 0, source: "", startedAt: .distantPast, table: row.table, operation: row.operation.rawValue,
            key: values(row.key), old: row.operation == .insert ? nil : values(row.old),
            new: row.operation == .delete ? nil : values(row.new))
    }
}
