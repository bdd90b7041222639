package import FeedModel
package import FeedStaging

/// A value of a row that a test stages.
package enum StagedValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByNilLiteral {
    case text(String)
    case integer(Int64)
    case null

    package init(stringLiteral value: String) { self = .text(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(nilLiteral: ()) { self = .null }
}

extension WorkerContext {
    /// Stages rows of a shape: the values of its columns, those to look up, and the record's number.
    package func stage(_ shape: RowShape, _ rule: MergeRule, _ rows: [[StagedValue]]) throws {
        let writer = try writer(for: shape, rule: rule)
        for row in rows {
            writer.beginRow()
            for value in row {
                switch value {
                case .text(let text): Array(text.utf8).withUnsafeBytes { writer.append(text: $0) }
                case .integer(let number): writer.append(number)
                case .null: writer.appendNull()
                }
            }
            try writer.endRow()
        }
    }
}

extension RowShape {
    /// A shape whose rows may refer to others.
    package static func of(
        _ table: String, _ columns: [String], _ references: [Reference] = [], numbered: Bool = false,
        within: Within? = nil
    ) -> RowShape {
        var shape = RowShape(table: table, columns: columns, references: references, within: within)
        shape.numbersRecords = numbered
        return shape
    }
}
