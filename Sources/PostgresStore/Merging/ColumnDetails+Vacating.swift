import Merging

/// Values that a row has for a moment, while another takes its own.
extension ColumnDetails {
    func vacancy(in table: any StoredTable, token: String) -> Vacancy? {
        vacantNumbers.map { .number($0) } ?? vacantValue(token).map { .value($0) }
    }

    /// The whole numbers that a column of numbers can hold; nil for other types.
    private var vacantNumbers: ClosedRange<Int64>? {
        switch typeName {
        case "int2": Int64(Int16.min)...Int64(Int16.max)
        case "int4": Int64(Int32.min)...Int64(Int32.max)
        case "int8": -(1 << 61)...1 << 61
        // Beyond these limits, a real number cannot represent each integer.
        case "float4": -(1 << 23)...1 << 23
        case "float8": -(1 << 52)...1 << 52
        case "numeric": numericRange
        default: nil
        }
    }

    private var numericRange: ClosedRange<Int64> {
        // "numeric(precision,scale)"
        let numbers = modifiers
        guard let precision = numbers.first else { return -(1 << 61)...1 << 61 }
        let digits = max(0, min(18, precision - (numbers.count > 1 ? numbers[1] : 0)))
        let limit = (0..<digits).reduce(Int64(1)) { limit, _ in limit * 10 } - 1
        return -limit...limit
    }

    /// The numbers in the type's parentheses.
    private var modifiers: [Int] {
        guard let start = baseType.firstIndex(of: "("), let end = baseType.firstIndex(of: ")"), start < end else {
            return []
        }
        return baseType[baseType.index(after: start)..<end].split(separator: ",").compactMap { Int($0) }
    }

    /// Returns an expression for a value of the row `g` that no other row has; nil for types that have none.
    private func vacantValue(_ token: String) -> String? {
        let text = "('tributary \(token) ' || g.id)"
        // A time of the row's own, in a span that only random choice could meet.
        let seconds = "make_interval(secs => \(Int.random(in: 0..<1 << 31)) + g.id)"
        switch typeName {
        case "text", "citext", "varchar", "bpchar":
            guard let length = modifiers.first, length < 70 else { return text }
            return "left(md5(\(text)), \(length))"
        case "uuid": return "md5(\(text))::uuid"
        case "bytea": return "convert_to(\(text), 'UTF8')"
        case "jsonb", "json": return "to_json(\(text))::\(typeName)"
        case "date": return "(date '4713-01-01 BC' + \(Int.random(in: 0..<1 << 19)) + g.id::integer)"
        case "timestamp", "timestamptz": return "(\(typeName) '4713-01-01 BC' + \(seconds))"
        case "interval": return "-\(seconds)"
        default: return nil
        }
    }
}
