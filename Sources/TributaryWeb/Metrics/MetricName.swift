/// Names and label values as Prometheus' text format demands them (prometheus.io/docs/concepts/data_model).
enum MetricName {
    /// Returns a name that a metric may have: `[a-zA-Z_:][a-zA-Z0-9_:]*`. Each other character becomes `_`.
    static func metric(_ name: String) -> String { valid(name) { isLetter($0) || $0 == UInt8(ascii: ":") } }

    /// Returns a name that a label may have: `[a-zA-Z_][a-zA-Z0-9_]*`. Names that begin with `__`, and those that a
    /// histogram's own labels have, are other people's: they get `exported_` before them, as Prometheus does it.
    static func label(_ name: String) -> String {
        let valid = valid(name, isLetter)
        return valid.hasPrefix("__") || valid == "le" || valid == "quantile" ? "exported_" + valid : valid
    }

    private static func valid(_ name: String, _ mayBegin: (UInt8) -> Bool) -> String {
        if let first = name.utf8.first, mayBegin(first), name.utf8.allSatisfy({ mayBegin($0) || isDigit($0) }) {
            return name
        }
        var valid: [UInt8] = []
        for character in name {
            let byte = character.asciiValue ?? UInt8(ascii: "_")
            if valid.isEmpty, isDigit(byte) { valid.append(UInt8(ascii: "_")) }
            valid.append(mayBegin(byte) || isDigit(byte) ? byte : UInt8(ascii: "_"))
        }
        return valid.isEmpty ? "_" : String(decoding: valid, as: UTF8.self)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            || byte == UInt8(ascii: "_")
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Returns the labels of a series as they are written, without braces, in the order of their names. Two lists of the
    /// same labels are one series. A label without a value is none.
    static func labels(_ dimensions: [(String, String)]) -> String {
        guard !dimensions.isEmpty else { return "" }
        var values: [String: String] = [:]
        for (name, value) in dimensions where !value.isEmpty { values[label(name)] = value }
        return values.sorted { $0.key < $1.key }.map { "\($0.key)=\"\(escaped($0.value, quotes: true))\"" }
            .joined(separator: ",")
    }

    /// - Parameter quotes: true where quotation marks are escaped, too.
    static func escaped(_ text: String, quotes: Bool) -> String {
        guard text.utf8.contains(where: { $0 == 0x5C || $0 == 0x0A || quotes && $0 == 0x22 }) else { return text }
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
