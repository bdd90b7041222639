import FeedModel
import FeedStore
import XMLStream

/// One column of a mapping: where its value comes from, and what becomes of it.
public struct ColumnMapping: Sendable, Hashable {
    enum Origin: Sendable, Hashable {
        case path(XMLPath, written: String)
        /// A child element or an attribute named like the column, in whatever case.
        case name
        case constant(TOMLScalar)
        /// Its position, from 1, among the sibling elements that are records of the same table.
        case ordinal
        case response(Fact)
        /// What the request was sent for: `row:id`, a column of the row of `for_each`, or `capture:token`.
        case sent(String)
        /// The key of the enclosing record of this table.
        case parent(String)
    }

    /// A fact of the response that the record came with.
    enum Fact: String, Sendable, CaseIterable {
        case url, fetchedAt = "fetched_at", lastModified = "last_modified"
    }

    /// Which of several matches counts.
    enum Repeat: String, Sendable, CaseIterable {
        case first, last, join
    }

    /// What becomes of a record whose value does not convert, or is missing where it must not.
    enum OnError: String, Sendable, CaseIterable {
        case discard, null, skip
    }

    /// The row of another table that the value stands for.
    struct Reference: Sendable, Hashable {
        var table: String
        var column: String
        var missing: RowShape.Missing
        /// Further columns of a row that is created, in alphabetical order.
        var set: [SetColumn]
        /// Whether an existing row gets them, too.
        var updates: Bool
    }

    struct SetColumn: Sendable, Hashable {
        var column: String
        var path: XMLPath
        var written: String
        var type: ValueType
    }

    public internal(set) var name: String
    var origin: Origin
    /// Nil: text, or what the store's column holds.
    var type: ValueType?
    /// Of numbers that are not written with a point and without groups.
    var separators: NumberSeparators?
    /// Of dates; `hex` for a blob that is not base 64.
    var format: String?
    var fallback: TOMLScalar?
    var isRequired = false
    var repetition = Repeat.first
    var separator = " "
    /// What texts stand for, in alphabetical order.
    var values: [EnumeratedValue] = []
    var overwrites = true
    var isEncrypted = false
    var isExported = true
    var reference: Reference?
    var onError = OnError.discard

    struct EnumeratedValue: Sendable, Hashable {
        var text: String
        var value: TOMLScalar
    }

    /// Whether it is a constant that is written as a feed writes it.
    var isConverted: Bool {
        guard case .constant(.text) = origin, let type else { return false }
        return type != .text
    }

    /// The path as it was written, for messages.
    var writtenPath: String {
        switch origin {
        case .path(_, let written): written
        case .name: name
        case .constant, .ordinal, .response, .sent: ""
        case .parent(let table): "key of \(table)"
        }
    }
}
