import FeedModel
import FeedStores
import Foundation
import TributaryEngine

/// Changes of rows for programs: as an object, or in CSV as a line for each value; of an updated row, for those that
/// differ.
extension FileFormat {
    /// The columns of CSV.
    static let changeColumns = ["table", "operation", "key", "column", "before", "after"]

    /// Returns a change, as `changes --json` has it, or as lines of CSV.
    ///
    /// - Parameter isFirst: true for the first one of all.
    func text(_ change: RowChange, isFirst: Bool) throws -> String {
        self == .csv ? Self.csv(change) : element(try JSONOutput.line(ChangeRecord(change)), isFirst: isFirst)
    }

    /// Returns the rows of a review, as `/api/review` has them, or as lines of CSV.
    func text(_ rows: [ChangeReview.Row]) throws -> String {
        let texts = try rows.enumerated().map { index, row in
            self == .csv ? Self.csv(RowChange(row)) : element(try JSONOutput.line(row), isFirst: index == 0)
        }
        return start(Self.changeColumns) + texts.joined() + end
    }

    private static func csv(_ change: RowChange) -> String {
        let key = object(change.key.map(\.column), change.key.map(\.value))
        let old = Dictionary(change.old ?? []) { first, _ in first }
        let new = Dictionary(change.new ?? []) { first, _ in first }
        let isUpdate = change.old != nil && change.new != nil
        let names = (change.old ?? change.new ?? []).map(\.column).filter { !isUpdate || old[$0] != new[$0] }
        return names.map { name in
            line([
                .text(change.table), .text(change.operation), .text(key), .text(name), old[name] ?? .null,
                new[name] ?? .null,
            ])
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
