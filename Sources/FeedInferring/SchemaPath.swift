import XMLStream

/// A path of a key in a schema: the part of XPath that `selector` and `field` allow (XML Schema part 1, section 3.11.6).
///
/// Names are compared without their namespaces.
struct SchemaPath {
    private var isDeep = false
    private var steps: [String] = []
    private var attribute: String?

    /// Returns the paths that `|` separates, without invalid ones.
    static func paths(_ text: String) -> [SchemaPath] {
        text.split(separator: "|").map { SchemaPath($0.filter { !$0.isWhitespace }) }
    }

    private init(_ text: String) {
        var rest = text
        if rest.hasPrefix(".//") {
            isDeep = true
            rest.removeFirst(3)
        }
        for step in rest.split(separator: "/") {
            let name = String(step).replacing("child::", with: "").replacing("attribute::", with: "@")
            let local = String(name.split(separator: ":").last ?? name[...])
            if name.hasPrefix("@") {
                attribute = local.hasPrefix("@") ? String(local.dropFirst()) : local
            } else if local != "." {
                steps.append(local)
            }
        }
    }

    /// Returns the elements that the path finds below another.
    func elements(below element: ElementProfile) -> [ElementProfile] {
        var found = [element]
        if isDeep {
            found = []
            element.visit { found.append($0) }
        }
        for step in steps {
            found = found.flatMap { $0.children.filter { step == "*" || $0.name.local == step } }
        }
        return found
    }

    /// Returns the only value of a table that the path finds; nil without one, or with several.
    func value(of table: ProposedTable) -> Int? {
        let holders = elements(below: table.element)
        let found = table.values.indices.filter { index in
            let value = table.values[index]
            return value.attribute?.local == attribute && holders.contains { $0 === value.holder }
        }
        return found.count == 1 ? found[0] : nil
    }
}
