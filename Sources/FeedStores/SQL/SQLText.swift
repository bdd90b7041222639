package import FeedModel
package import Foundation

/// An SQL statement, or a part of one, with the values that it binds.
///
/// Text in an interpolation is SQL itself: identifiers and literals must be quoted already. Values are bound:
/// `"SELECT name FROM t WHERE id = \(bind: 7)"`. Statements that differ only in their values have one text, so that a
/// session prepares them once.
package struct SQLText: ExpressibleByStringInterpolation, Sendable {
    /// A value of a statement's parameter.
    package enum Value: Sendable {
        case null
        case integer(Int64)
        case real(Double)
        case text(String)
        case blob(Data)
        case bool(Bool)
        /// A point in time as Tributary's own tables hold it, to the millisecond.
        case date(Date)
        /// Texts that a statement unnests: an array of PostgreSQL's, a JSON array of SQLite's.
        case texts([String?])
    }

    package enum Piece: Sendable {
        case text(String)
        case value(Value)
    }

    package private(set) var pieces: [Piece] = []
    /// True for a statement whose text will not be used again. It is not kept prepared.
    package var isUsedOnce = false
    /// True for a query of few rows that every run sends. PostgreSQL keeps it prepared, and takes its rows into memory.
    package var isFrequent = false

    package init(_ text: String) { append(text) }

    package init(stringLiteral text: String) { append(text) }

    /// Creates a list of values with commas between them.
    package init(binding values: [Value]) {
        for (index, value) in values.enumerated() {
            if index > 0 { append(", ") }
            pieces.append(.value(value))
        }
    }

    package init(stringInterpolation: StringInterpolation) { self = stringInterpolation.sql }

    /// The statement, which is not kept prepared.
    package var once: SQLText {
        var sql = self
        sql.isUsedOnce = true
        return sql
    }

    /// The query as one that every run sends. Each value must stand where its type is known.
    package var frequent: SQLText {
        var sql = self
        sql.isFrequent = true
        return sql
    }

    package var isEmpty: Bool { pieces.isEmpty }

    package mutating func append(_ text: String) {
        guard !text.isEmpty else { return }
        if case .text(let last)? = pieces.last {
            pieces[pieces.count - 1] = .text(last + text)
        } else {
            pieces.append(.text(text))
        }
    }

    package mutating func append(_ sql: SQLText) {
        for piece in sql.pieces {
            if case .text(let text) = piece { append(text) } else { pieces.append(piece) }
        }
        isUsedOnce = isUsedOnce || sql.isUsedOnce
    }

    package static func + (left: SQLText, right: SQLText) -> SQLText {
        var sql = left
        sql.append(right)
        return sql
    }

    /// Returns the text of the statement, and its values in their order.
    ///
    /// - Parameter parameter: writes a value into the text: as a placeholder with its number, from 1, or as a literal,
    ///   which is not bound.
    package func rendered(_ parameter: (Value, Int) -> (text: String, isBound: Bool)) -> (text: String, values: [Value])
    {
        var text = ""
        var values: [Value] = []
        for piece in pieces {
            switch piece {
            case .text(let part): text += part
            case .value(let value):
                let (part, isBound) = parameter(value, values.count + 1)
                text += part
                if isBound { values.append(value) }
            }
        }
        return (text, values)
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var sql = SQLText("")

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ literal: String) { sql.append(literal) }
        package mutating func appendInterpolation(_ text: String) { sql.append(text) }
        package mutating func appendInterpolation(_ number: Int) { sql.append(String(number)) }
        package mutating func appendInterpolation(_ part: SQLText) { sql.append(part) }
        package mutating func appendInterpolation(bind value: Value) { sql.pieces.append(.value(value)) }
        package mutating func appendInterpolation(bind number: Int) {
            appendInterpolation(bind: .integer(Int64(number)))
        }
        package mutating func appendInterpolation(bind number: Int64) { appendInterpolation(bind: .integer(number)) }
        package mutating func appendInterpolation(bind number: Int64?) { appendInterpolation(bind: Value(number)) }
        package mutating func appendInterpolation(bind number: Double) { appendInterpolation(bind: .real(number)) }
        package mutating func appendInterpolation(bind number: Double?) { appendInterpolation(bind: Value(number)) }
        package mutating func appendInterpolation(bind bool: Bool) { appendInterpolation(bind: .bool(bool)) }
        package mutating func appendInterpolation(bind text: String) { appendInterpolation(bind: .text(text)) }
        package mutating func appendInterpolation(bind text: String?) { appendInterpolation(bind: Value(text)) }
        package mutating func appendInterpolation(bind date: Date) { appendInterpolation(bind: .date(date)) }
        package mutating func appendInterpolation(bind date: Date?) { appendInterpolation(bind: Value(date)) }
        package mutating func appendInterpolation(bind texts: [String]) { appendInterpolation(bind: .texts(texts)) }
    }
}

extension SQLText.Value {
    package init(_ text: String?) { self = text.map { .text($0) } ?? .null }
    package init(_ number: Int64?) { self = number.map { .integer($0) } ?? .null }
    package init(_ number: Int) { self = .integer(Int64(number)) }
    package init(_ number: Double?) { self = number.map { .real($0) } ?? .null }
    package init(_ date: Date?) { self = date.map { .date($0) } ?? .null }

    package init(_ value: StoredValue) {
        self =
            switch value {
            case .null: .null
            case .integer(let number): .integer(number)
            case .real(let number): .real(number)
            case .text(let text): .text(text)
            case .blob(let data): .blob(data)
            }
    }
}

extension Sequence<SQLText> {
    package func joined(separator: String) -> SQLText {
        var sql = SQLText("")
        for (index, part) in enumerated() {
            if index > 0 { sql.append(separator) }
            sql.append(part)
        }
        return sql
    }

    /// ` WHERE …`, with every condition; nothing where there are none.
    package var whereClause: SQLText {
        let conditions = Array(self)
        return conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))"
    }
}
