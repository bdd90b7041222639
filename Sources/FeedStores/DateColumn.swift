/// The properties of a column by which rows expire.
package struct DateColumn: Sendable, Equatable {
    package var type: String
    /// True if dates are stored in it, as a mapping's types `date` and `datetime` store them.
    package var holdsDates: Bool
    /// True if an index finds the rows with the oldest dates.
    package var isIndexed: Bool

    package init(type: String, holdsDates: Bool, isIndexed: Bool) {
        self.type = type
        self.holdsDates = holdsDates
        self.isIndexed = isIndexed
    }

    /// Returns true if an index finds the rows of a scope with the oldest dates.
    ///
    /// - Parameters:
    ///   - index: the index's columns.
    ///   - scope: the columns whose values are given.
    package static func isServed(by index: [String], _ column: String, within scope: [String]) -> Bool {
        let scope = Set(scope.map { $0.lowercased() })
        return index.first { !scope.contains($0.lowercased()) }?.lowercased() == column.lowercased()
    }
}
