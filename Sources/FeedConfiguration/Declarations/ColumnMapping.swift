package import FeedModel
package import XMLStream

/// One column of a mapping: the origin of its value, and how the value is treated.
public struct ColumnMapping: Sendable, Hashable {
    package enum Origin: Sendable, Hashable {
        case path(XMLPath, written: String)
        /// A child element or an attribute with the column's name, in upper or lower case.
        case name
        case constant(Constant)
        /// The record's position, from 1, among the records of the same table.
        case ordinal(Count)
        case response(Fact)
        /// A value for which the request was sent: `row:id`, a column of the `for_each` row, or `capture:token`.
        case sent(FeedConfiguration.Reference)
        /// The key of the enclosing record of this table.
        case parent(String)
        /// An SQL expression over the record's other columns.
        case sql(String)
    }

    /// The part of a document within which positions are counted.
    package enum Count: Sendable, Hashable {
        /// The element around the record.
        case siblings
        /// The record that a column with `parent` names, however deep the record lies in it.
        case parent
        case document
    }

    /// True if the value is a position.
    package var isOrdinal: Bool { if case .ordinal = origin { true } else { false } }

    /// The place of a derived value in exported XML.
    package struct ExportPath: Sendable, Hashable {
        package var path: XMLPath
        package var written: String
    }

    /// A fact about the response that contains the record.
    package enum Fact: String, Sendable, CaseIterable {
        case url, fetchedAt = "fetched_at", lastModified = "last_modified", member
    }

    /// The choice among several matches.
    package enum Repeat: String, Sendable, CaseIterable {
        case first, last, join
    }

    /// The treatment of a record whose value does not convert, or is missing although it is required.
    package enum OnError: String, Sendable, CaseIterable {
        case discard, null, skip
    }

    /// The row of another table to which the value refers.
    package struct Reference: Sendable, Hashable {
        package var table: String
        package var column: String
        package var missing: RowShape.Missing
        /// Further columns of a row that is created, in alphabetical order.
        package var set: [SetColumn]
        /// True if an existing row gets them, too.
        package var updates: Bool
    }

    package struct SetColumn: Sendable, Hashable {
        package var column: String
        package var path: XMLPath
        package var written: String
        package var type: ValueType
    }

    public package(set) var name: String
    package var origin: Origin
    /// The declared type. Nil means text, or the type of the store's column.
    package var type: ValueType?
    /// The separators of numbers; nil if these have a decimal point and no groups.
    package var separators: NumberSeparators?
    /// The format of dates; `hex` for a blob that is not base 64.
    package var format: String?
    /// The zone of times without one; nil for UTC.
    package var timeZone: TimeZoneRules?
    package var fallback: Constant?
    package var isRequired = false
    package var repetition = Repeat.first
    package var separator = " "
    /// The values for which texts stand, in alphabetical order of the texts.
    package var values: [EnumeratedValue] = []
    package var overwrites = true
    package var isEncrypted = false
    package var isExported = true
    /// Where a derived value is exported.
    package var exportPath: ExportPath?
    /// False for a value that only expressions use. The store has no such column.
    package var isStored = true
    package var reference: Reference?
    package var onError = OnError.discard

    package init(name: String, origin: Origin) {
        self.name = name
        self.origin = origin
    }

    package struct EnumeratedValue: Sendable, Hashable {
        package var text: String
        package var value: Constant
    }

    /// True if the value is a constant in the notation of the feed.
    package var isConverted: Bool {
        guard case .constant(.text) = origin, let type else { return false }
        return type != .text
    }

    /// True if the value is computed from other columns.
    package var isDerived: Bool { if case .sql = origin { true } else { false } }

    /// The path as it was written, for messages.
    package var writtenPath: String {
        switch origin {
        case .path(_, let written): written
        case .name: name
        case .constant, .ordinal, .response, .sent, .sql: ""
        case .parent(let table): "key of \(table)"
        }
    }
}

/// The type of the values in a mapping's column.
public enum ValueType: String, Sendable, CaseIterable {
    case text, integer, real, decimal, boolean, date, datetime, blob, xml

    /// The SQL type of a column that is created for it. Dates are text. A column of decimals has no type: it keeps each
    /// as a number, or as text where a number would be rounded.
    var sqlType: String {
        switch self {
        case .text, .date, .datetime, .xml: "TEXT"
        case .decimal: ""
        case .integer, .boolean: "INTEGER"
        case .real: "REAL"
        case .blob: "BLOB"
        }
    }
}

/// A constant of a mapping.
package enum Constant: Sendable, Hashable {
    case text(String)
    case integer(Int)
    case real(Double)
    case boolean(Bool)

    package var isText: Bool { if case .text = self { true } else { false } }

    /// The constant as the text of an element.
    package var text: String {
        switch self {
        case .text(let text): text
        case .integer(let number): String(number)
        case .real(let number): String(number)
        case .boolean(let flag): flag ? "true" : "false"
        }
    }
}
