/// Writes a value of the configuration as JSON (RFC 8259). Tables become objects, in the order of the file; dates and
/// times become their text. In strings, `${…}` is replaced by its value, escaped for JSON.
struct JSONBodyWriter {
    let table: DeclarationReader

    func read(_ key: Key<TOMLValue>) -> InterpolatedText? {
        table[key].flatMap { json($0, at: table.path.appending(key.entry.name)) }
    }

    private func json(_ value: TOMLValue, at path: TOMLKeyPath) -> InterpolatedText? {
        switch value {
        case .string(let template):
            return table.interpolate(template, at: path, isSent: true).map { text in
                var quoted = InterpolatedText("\"")
                quoted.append(text.mappingLiterals(RequestBody.Escaping.json))
                quoted.append("\"")
                return quoted
            }
        case .integer(let number): return InterpolatedText(String(number))
        case .float(let number):
            if !number.isFinite { table.problems.report(path, "JSON has no \(number) (RFC 8259, section 6)") }
            return InterpolatedText(String(number))
        case .boolean(let flag): return InterpolatedText(flag ? "true" : "false")
        case .date(let date): return InterpolatedText("\"\(date)\"")
        case .array(let nodes):
            let values = nodes.enumerated().compactMap { json($1.value, at: path.appending($0)) }
            return list(values, "[", "]")
        case .table(let nodes):
            let members = nodes.entries.compactMap { entry in
                json(entry.node.value, at: path.appending(entry.key)).map { value in
                    var member = InterpolatedText("\"\(RequestBody.Escaping.json(entry.key))\":")
                    member.append(value)
                    return member
                }
            }
            return list(members, "{", "}")
        }
    }

    private func list(_ values: [InterpolatedText], _ start: String, _ end: String) -> InterpolatedText {
        var text = InterpolatedText(start)
        for (index, value) in values.enumerated() {
            if index > 0 { text.append(InterpolatedText(",")) }
            text.append(value)
        }
        text.append(end)
        return text
    }
}
