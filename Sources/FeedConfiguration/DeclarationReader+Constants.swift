import Foundation

/// Constants: values in which nothing is replaced.
extension DeclarationReader {
    /// Returns a constant: a number, a boolean, or a string in which nothing is replaced.
    func scalar(_ key: String) -> Constant? {
        value(key, "a string, a number or a boolean") { scalar($0, at: path.appending(key)) }
    }

    /// Returns a table of constants, in alphabetical order.
    func scalars(_ key: String) -> [(name: String, value: Constant)]? {
        guard let table = value(key, "a table", { if case .table(let nodes) = $0 { nodes } else { nil } }) else {
            return nil
        }
        return table.entries.sorted { $0.key < $1.key }.compactMap { entry in
            let place = path.appending(key).appending(entry.key)
            if let value = scalar(entry.node.value, at: place) { return (entry.key, value) }
            problems.report(
                place,
                "expected a string, a number or a boolean, found \(entry.node.value.typeName)")
            return nil
        }
    }

    private func scalar(_ value: TOMLValue, at path: @autoclosure () -> TOMLKeyPath) -> Constant? {
        switch value {
        case .string(let text) where !text.utf8.contains(UInt8(ascii: "$")): return .text(text)
        case .string(let text):
            let plain = text.replacingOccurrences(of: "$${", with: "")
            if plain.contains("${") {
                problems.report(
                    path(),
                    "a constant cannot contain ${…}",
                    help: "for such a value, use { row = \"id\" } or "
                        + "{ capture = \"name\" }; write '$${' for a literal '${'")
            }
            return .text(text.replacingOccurrences(of: "$${", with: "${"))
        case .integer(let number): return .integer(number)
        case .float(let number): return .real(number)
        case .boolean(let flag): return .boolean(flag)
        default: return nil
        }
    }
}
