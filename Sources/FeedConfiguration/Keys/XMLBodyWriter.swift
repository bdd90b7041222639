import XMLStream

/// Writes a table of the configuration as XML, in the order of the file. A key is an element, `"@key"` an attribute,
/// and `"."` the element's own text. An array is the same element several times.
struct XMLBodyWriter {
    let table: DeclarationReader

    /// Returns the elements and text of the table's keys.
    func content() -> InterpolatedText {
        table.entries().reduce(into: InterpolatedText("")) { xml, entry in
            if entry.key.hasPrefix("@") { return }
            switch entry.value {
            case .array(let nodes) where entry.key != ".":
                for (index, node) in nodes.enumerated() {
                    xml.append(element(entry.key, node.value, at: entry.path.appending(index)))
                }
            default: xml.append(element(entry.key, entry.value, at: entry.path))
            }
        }
    }

    /// Returns what follows the name in the start tag of the element that the table is, and the element's content.
    func inner() -> InterpolatedText {
        var xml = attributes()
        xml.append(InterpolatedText(">"))
        xml.append(content())
        return xml
    }

    /// Returns the attributes of the table's keys.
    private func attributes() -> InterpolatedText {
        table.entries().filter { $0.key.hasPrefix("@") }.reduce(into: InterpolatedText("")) { xml, entry in
            let name = String(entry.key.dropFirst())
            check(name, at: entry.path)
            xml.append(InterpolatedText(" \(name)=\""))
            xml.append(text(entry.value, at: entry.path))
            xml.append(InterpolatedText("\""))
        }
    }

    private func element(_ name: String, _ value: TOMLValue, at path: TOMLKeyPath) -> InterpolatedText {
        if name == "." { return text(value, at: path) }
        check(name, at: path)
        var xml = InterpolatedText("<\(name)")
        if case .table(let nodes) = value {
            xml.append(XMLBodyWriter(table: table.reader(nodes, at: path)).inner())
        } else {
            xml.append(InterpolatedText(">"))
            xml.append(text(value, at: path))
        }
        xml.append(InterpolatedText("</\(name)>"))
        return xml
    }

    private func text(_ value: TOMLValue, at path: TOMLKeyPath) -> InterpolatedText {
        guard let text = table.text(of: value, at: path, isSent: true) else { return InterpolatedText("") }
        var isAllowed = true
        let escaped = text.mappingLiterals { literal in
            XMLText.escaped(literal)
                ?? {
                    isAllowed = false
                    return ""
                }()
        }
        if !isAllowed {
            table.problems.report(path, "the text has a character that XML cannot hold (XML 1.0, section 2.2)")
        }
        return escaped
    }

    private func check(_ name: String, at path: TOMLKeyPath) {
        guard !XMLText.isName(name) else { return }
        table.problems.report(
            path, "'\(name)' is not the name of an element",
            help: "attributes are written \"@name\", an element's text \".\"")
    }
}
