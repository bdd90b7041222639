/// A record that a run has left out (`on_error = "skip"`), as it was read.
package struct RejectedRecord: Sendable, Equatable, Codable {
    /// The key of the request.
    package var request: String?
    /// The table; nil for a line that is not CSV.
    package var table: String?
    /// The record's key, as the feed has it; a JSON array for a key of several columns.
    package var key: String?
    /// The column whose value does not convert or is missing; nil for a line that is not CSV.
    package var column: String?
    package var reason: String
    /// A JSON object with the texts of the mapped columns, or the text of a line.
    package var record: String

    package init(table: String? = nil, key: String? = nil, column: String? = nil, reason: String, record: String) {
        self.table = table
        self.key = key
        self.column = column
        self.reason = reason
        self.record = record
    }
}
