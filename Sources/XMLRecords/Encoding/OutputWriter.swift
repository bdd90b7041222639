import XMLStream

/// Writes an element and all that is in it.
struct OutputWriter {
    private let indentation: Int?
    private let checksNames: Bool
    private var text = ""

    /// - Parameter indentation: the spaces before a child for each level of nesting; nil for everything on one line.
    static func text(of element: OutputElement, indentation: Int?) throws -> String {
        var writer = OutputWriter(indentation: indentation, checksNames: true)
        try writer.write(element, depth: 0, isInline: indentation == nil, scope: ["xml": ""])
        return writer.text
    }

    /// Returns the text by which elements are compared. Those around it, which bind its prefixes, may be incomplete.
    static func sortingText(of element: OutputElement) throws -> String {
        var writer = OutputWriter(indentation: nil, checksNames: false)
        try writer.write(element, depth: 0, isInline: true, scope: [:])
        return writer.text
    }

    private init(indentation: Int?, checksNames: Bool) {
        self.indentation = indentation
        self.checksNames = checksNames
    }

    /// - Parameters:
    ///   - isInline: true where white space would become part of a text.
    ///   - scope: the namespaces that prefixes are bound to.
    private mutating func write(
        _ element: OutputElement, depth: Int, isInline: Bool, scope: [String: String]
    ) throws {
        let declared = element.namespaces.filter { scope[$0.key] != $0.value }
        let scope = scope.merging(declared) { $1 }
        try check(element.name, element.field, in: element, scope)
        text += "<" + element.name
        for (prefix, namespace) in declared.sorted(by: { $0.key < $1.key }) {
            writeAttribute(prefix.isEmpty ? "xmlns" : "xmlns:" + prefix, namespace)
        }
        for attribute in Self.sorted(element.attributes, by: \.field.rank) {
            try check(attribute.name, attribute.field, in: element, scope)
            writeAttribute(attribute.name, attribute.value)
        }
        guard !element.text.isEmpty || !element.children.isEmpty else { return text += "/>" }
        text += ">"
        write(element.text)
        let isInline = isInline || !element.text.isEmpty
        for child in Self.sorted(element.children, by: \.field.rank) {
            if !isInline { breakLine(depth + 1) }
            try write(child, depth: depth + 1, isInline: isInline, scope: scope)
        }
        if !isInline { breakLine(depth) }
        text += "</" + element.name + ">"
    }

    private func check(
        _ name: String, _ field: OutputField, in element: OutputElement, _ scope: [String: String]
    ) throws {
        guard checksNames else { return }
        guard XMLText.isName(name) else {
            throw field.refusal("'\(name)' is not a name in XML", in: element)
        }
        guard let colon = name.firstIndex(of: ":") else { return }
        let prefix = String(name[..<colon])
        guard scope[prefix] == nil else { return }
        throw field.refusal("no record's xmlNamespaces says what the prefix '\(prefix)' stands for", in: element)
    }

    private mutating func breakLine(_ depth: Int) {
        text += "\n" + String(repeating: " ", count: depth * (indentation ?? 0))
    }

    private mutating func writeAttribute(_ name: String, _ value: String) {
        text += " " + name + "=\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            // A parser would turn each of these into a space.
            case "\t": text += "&#9;"
            case "\n": text += "&#10;"
            case "\r": text += "&#13;"
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }

    private mutating func write(_ value: String) {
        for scalar in value.unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            // Always escaped, because `]]>` must not stand in a text.
            case ">": text += "&gt;"
            // A parser would turn it into a line feed.
            case "\r": text += "&#13;"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }

    private static func sorted<Item>(_ items: [Item], by rank: KeyPath<Item, Int>) -> [Item] {
        guard items.contains(where: { $0[keyPath: rank] != .max }) else { return items }
        return items.sorted { $0[keyPath: rank] < $1[keyPath: rank] }
    }
}
