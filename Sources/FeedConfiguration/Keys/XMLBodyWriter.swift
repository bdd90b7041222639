import XMLStream

/// Writes a table of the configuration as XML, in the order of the file. A key is an element, `"@key"` an attribute,
/// and `"."` the element's own text. An array is the same element several times.
struct XMLBodyWriter {
    let table: DeclarationReader

    /// Returns the elements and text of the table's keys.
    func content() -> InterpolatedText {
        table.entries().filter { !$0.key.hasPrefix("@") }.reduce(into: InterpolatedText("")) { xml, entry in
            guard let nodes = entry.value.array, entry.key != "." else {
                return xml.append(element(entry.key, entry.value, at: entry.path))
            }
            for (index, node) in nodes.enumerated() {
                xml.append(element(entry.key, node.value, at: entry.path.appending(index)))
            }
        }
    }

    /// Returns what follows the name in the start tag of the element that the table is, and the element's content.
    func inner() -> InterpolatedText {
        var xml = attributes()
        xml.append(">")
        xml.append(content())
        return xml
    }

    /// Returns the attributes of the table's keys.
    private func attributes() -> InterpolatedText {
        table.entries().filter { $0.key.hasPrefix("@") }.reduce(into: InterpolatedText("")) { xml, entry in
            let name = String(entry.key.dropFirst())
            check(name, at: entry.path)
            xml.append(" \(name)=\"")
            xml.append(text(entry.value, at: entry.path))
            xml.append("\"")
        }
    }

    private func element(_ name: String, _ value: TOMLValue, at path: TOMLKeyPath) -> InterpolatedText {
        if name == "." { return text(value, at: path) }
        check(name, at: path)
        var xml = InterpolatedText("<\(name)")
        if let nodes = value.table {
            xml.append(XMLBodyWriter(table: table.reader(nodes, at: path)).inner())
        } else {
            xml.append(">")
            xml.append(text(value, at: path))
        }
        xml.append("</\(name)>")
        return xml
    }

    private func text(_ value: TOMLValue, at path: TOMLKeyPath) -> InterpolatedText {
        guard let text = table.text(of: value, at: path, isSent: true) else { return InterpolatedText("") }
        return text.mappingLiterals { literal in
            if let escaped = XMLText.escaped(literal) { return escaped }
            table.problems.report(path, "the text has a character that XML cannot hold (XML 1.0, section 2.2)")
            return ""
        }
    }

    private func check(_ name: String, at path: TOMLKeyPath) {
        guard !XMLText.isName(name) else { return }
        table.problems.report(
            path, "'\(name)' is not the name of an element",
            help: "attributes are written \"@name\", an element's text \".\"")
    }
}
