import XMLStream

/// Writes an element and all that is in it.
struct OutputWriter {
    private let indentation: Int?
    private let checksNames: Bool
    private var writer = XMLWriter()

    /// - Parameter indentation: the spaces before a child for each level of nesting; nil for everything on one line.
    static func text(of element: OutputElement, indentation: Int?) throws -> String {
        var writer = OutputWriter(indentation: indentation, checksNames: true)
        try writer.write(element, depth: 0, isInline: indentation == nil, scope: ["xml": ""])
        return String(decoding: writer.writer.bytes, as: UTF8.self)
    }

    /// Returns the text by which elements are compared. Those around it, which bind its prefixes, may be incomplete.
    static func sortingText(of element: OutputElement) throws -> String {
        var writer = OutputWriter(indentation: nil, checksNames: false)
        try writer.write(element, depth: 0, isInline: true, scope: [:])
        return String(decoding: writer.writer.bytes, as: UTF8.self)
    }

    /// - Parameters:
    ///   - isInline: true if white space would become part of a text.
    ///   - scope: the namespaces that prefixes are bound to.
    private mutating func write(
        _ element: OutputElement, depth: Int, isInline: Bool, scope: [String: String]
    ) throws {
        let declared = element.namespaces.filter { scope[$0.key] != $0.value }
        let scope = scope.merging(declared) { $1 }
        try check(element.name, element.field, in: element, scope)
        writer.start(element.name)
        for (prefix, namespace) in declared.sorted(by: { $0.key < $1.key }) {
            writer.attribute(prefix.isEmpty ? "xmlns" : "xmlns:" + prefix, namespace.utf8)
        }
        for attribute in Self.sorted(element.attributes, by: \.field.rank) {
            try check(attribute.name, attribute.field, in: element, scope)
            writer.attribute(attribute.name, attribute.value.utf8)
        }
        writer.text(element.text.utf8)
        let isInline = isInline || !element.text.isEmpty
        for child in Self.sorted(element.children, by: \.field.rank) {
            if !isInline { breakLine(depth + 1) }
            try write(child, depth: depth + 1, isInline: isInline, scope: scope)
        }
        if !isInline, !element.children.isEmpty { breakLine(depth) }
        writer.end(element.name)
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
        writer.text(("\n" + String(repeating: " ", count: depth * (indentation ?? 0))).utf8)
    }

    private static func sorted<Item>(_ items: [Item], by rank: KeyPath<Item, Int>) -> [Item] {
        guard items.contains(where: { $0[keyPath: rank] != .max }) else { return items }
        return items.sorted { $0[keyPath: rank] < $1[keyPath: rank] }
    }
}
