/// What was moved from one store to another.
package struct StoreMoveReport: Sendable, Equatable {
    /// The number of rows of each table, in the order of the names.
    package var tables: [(name: String, rows: Int)] = []
    package var sources = 0
    package var requests = 0
    package var runs = 0
    package var changes = 0

    package init() {}

    package static func == (left: StoreMoveReport, right: StoreMoveReport) -> Bool {
        left.tables.elementsEqual(right.tables, by: ==) && left.sources == right.sources
            && left.requests == right.requests && left.runs == right.runs && left.changes == right.changes
    }
}
