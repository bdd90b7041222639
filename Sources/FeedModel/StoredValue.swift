package import Foundation

/// A value of a column of the main store.
package enum StoredValue: Sendable, Equatable, CustomStringConvertible {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob(Data)

    /// An integer and a real of the same value are equal, as SQL compares them.
    package static func == (left: StoredValue, right: StoredValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let left), .integer(let right)): left == right
        case (.real(let left), .real(let right)): left == right
        case (.integer(let integer), .real(let real)), (.real(let real), .integer(let integer)):
            Int64(exactly: real) == integer
        case (.text(let left), .text(let right)): left == right
        case (.blob(let left), .blob(let right)): left == right
        default: false
        }
    }

    package var description: String {
        switch self {
        case .null: "NULL"
        case .integer(let number): String(number)
        case .real(let number): String(number)
        case .text(let text): String(reflecting: text)
        case .blob(let data): "\(data.count) bytes"
        }
    }
}
