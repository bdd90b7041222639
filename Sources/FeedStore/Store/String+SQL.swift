import Foundation

extension String {
    /// As a string literal of SQL.
    package var sqlLiteral: String { "'" + replacingOccurrences(of: "'", with: "''") + "'" }

    /// As an identifier of SQL, whatever characters it has. (GRDB's own quoting leaves quotes inside as they are.)
    package var sqlIdentifier: String { "\"" + replacingOccurrences(of: "\"", with: "\"\"") + "\"" }
}
