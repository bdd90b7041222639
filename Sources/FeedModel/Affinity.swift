/// The kind of value that a column prefers to store, by its declared type (SQLite, "Datatypes in SQLite", section 3.1).
package enum Affinity: Sendable {
    case integer, text, blob, real, numeric

    package init(declaredType: String) {
        let type = declaredType.uppercased()
        if type.contains("INT") {
            self = .integer
        } else if ["CHAR", "CLOB", "TEXT"].contains(where: type.contains) {
            self = .text
        } else if type.isEmpty || type.contains("BLOB") {
            self = .blob
        } else if ["REAL", "FLOA", "DOUB"].contains(where: type.contains) {
            self = .real
        } else {
            self = .numeric
        }
    }

    /// - Parameter isStrict: true if the column's table is STRICT. There, `ANY` keeps every value as it is
    ///   (stricttables.html).
    package init(declaredType: String, isStrict: Bool) {
        self = isStrict && declaredType.uppercased() == "ANY" ? .blob : Affinity(declaredType: declaredType)
    }

    /// The name of a type that has this affinity in a table that is not STRICT.
    package var sqlType: String {
        switch self {
        case .integer: "INTEGER"
        case .text: "TEXT"
        case .blob: "BLOB"
        case .real: "REAL"
        case .numeric: "NUMERIC"
        }
    }

    /// Returns true if a column of this affinity keeps the values that a mapping declares as this SQL type.
    package func holds(_ type: String, declaredType: String) -> Bool {
        switch type {
        case "TEXT":
            // DATE and DATETIME have numeric affinity by their names, but keep dates as text.
            self == .text || self == .blob || declaredType.uppercased().contains("DATE")
                || declaredType.uppercased().contains("TIME")
        case "INTEGER": self == .integer || self == .numeric
        case "REAL": self == .real || self == .numeric
        case "BLOB": self == .blob
        // The types that a mapping creates for other numbers round decimals, which it declares by no type. Other types, such
        // as NUMERIC, are the choice of the table's owner.
        case "": !["INTEGER", "REAL"].contains(declaredType.uppercased())
        default: true
        }
    }
}
