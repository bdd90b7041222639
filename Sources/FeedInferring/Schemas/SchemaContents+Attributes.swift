extension SchemaContents {
    /// Adds the attributes of a type or an extension that are not there yet.
    func addAttributes(of node: SchemaNode, to content: inout SchemaContent) throws {
        var groups: Set<ObjectIdentifier> = []
        var rest = [node]
        while let next = rest.popLast() {
            for child in next.children {
                try count()
                switch child.kind {
                case "attribute":
                    if let attribute = attribute(child) { content.add(attribute) }
                case "attributeGroup":
                    guard let group = child.reference("ref").flatMap({ set.attributeGroups[$0] }) else { continue }
                    for definition in [group, group.redefined].compactMap(\.self)
                    where groups.insert(ObjectIdentifier(definition)).inserted {
                        rest.append(definition)
                    }
                default: continue
                }
            }
        }
    }

    private func attribute(_ node: SchemaNode) -> SchemaContent.Attribute? {
        guard node["use"] != "prohibited" else { return nil }
        let referred = node.reference("ref")
        let declaration = referred.flatMap { set.attributes[$0] } ?? node
        let name: SchemaName
        if let referred {
            name = referred
        } else {
            guard let local = node["name"] else { return nil }
            let isQualified =
                node["form"].map { $0 == "qualified" }
                ?? (node.document.root?["attributeFormDefault"] == "qualified")
            name = SchemaName(local: local, namespace: isQualified ? node.document.namespace : nil)
        }
        var value =
            declaration.child("simpleType").map { simple.value(of: $0) }
            ?? simple.value(of: declaration.reference("type"))
        value.isRequired = node["use"] == "required"
        value.fallback = node["default"] ?? node["fixed"] ?? declaration["default"] ?? declaration["fixed"]
        value.documentation = node.documentation ?? declaration.documentation
        return .init(name: name, value: value)
    }
}
