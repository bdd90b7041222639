import FeedConfiguration

/// The column types of a schema's simple types.
struct SchemaSimpleTypes {
    let set: SchemaSet

    /// Returns the declaration of a type's values. Unknown types are texts.
    func value(of name: SchemaName?) -> DeclaredValue {
        var budget = Self.longestChain
        return value(of: name, &budget)
    }

    /// Returns the declaration of the values of a definition in place.
    func value(of node: SchemaNode) -> DeclaredValue {
        var budget = Self.longestChain
        return value(of: node, &budget)
    }

    /// The most definitions looked at for one value: those of a chain of restrictions, and of unions in it.
    private static let longestChain = 500

    private func value(of name: SchemaName?, _ budget: inout Int) -> DeclaredValue {
        guard let name else { return DeclaredValue() }
        if name.isBuiltIn { return Self.builtIn(name.local) }
        guard let node = set.types[name], node.kind == "simpleType" else { return DeclaredValue() }
        return value(of: node, &budget)
    }

    private func value(of node: SchemaNode, _ budget: inout Int) -> DeclaredValue {
        budget -= 1
        guard budget > 0 else { return DeclaredValue() }
        if let restriction = node.child("restriction") {
            var value: DeclaredValue
            if let inner = restriction.child("simpleType") {
                value = self.value(of: inner, &budget)
            } else if let base = restriction.reference("base"), base == node.name, let former = node.redefined {
                value = self.value(of: former, &budget)
            } else {
                value = self.value(of: restriction.reference("base"), &budget)
            }
            SchemaSimpleTypes.restrict(&value, by: restriction)
            return value
        }
        if let union = node.child("union") {
            var members: [DeclaredValue] = []
            for name in union.references("memberTypes") { members.append(value(of: name, &budget)) }
            for member in union.children where member.kind == "simpleType" {
                members.append(value(of: member, &budget))
            }
            guard let first = members.first, members.allSatisfy({ $0.type == first.type && $0.format == first.format })
            else { return DeclaredValue() }
            var value = DeclaredValue(type: first.type, format: first.format)
            if members.allSatisfy({ $0.choiceCount > 0 }) {
                value.choices = Array(members.flatMap(\.choices).prefix(DeclaredValue.mostChoices))
                value.choiceCount = members.reduce(0) { $0 + $1.choiceCount }
            }
            return value
        }
        // A list is one text.
        return DeclaredValue()
    }

    /// Adds the facets of a restriction.
    static func restrict(_ value: inout DeclaredValue, by restriction: SchemaNode) {
        let choices = restriction.children.filter { $0.kind == "enumeration" }
        if !choices.isEmpty {
            value.choices = choices.prefix(DeclaredValue.mostChoices).compactMap { $0["value"] }
            value.choiceCount = choices.count
        }
        guard value.type == .integer || value.type == .decimal else { return }
        let digits = restriction.child("totalDigits")?["value"].flatMap { Int($0) }
        if value.type == .integer, let digits, digits > 18 { value.type = .decimal }
        if value.type == .decimal, restriction.child("fractionDigits")?["value"] == "0", let digits, digits <= 18 {
            value.type = .integer
        }
    }

    private static func builtIn(_ name: String) -> DeclaredValue {
        switch name {
        case "integer", "nonNegativeInteger", "positiveInteger", "nonPositiveInteger", "negativeInteger", "long", "int",
            "short", "byte", "unsignedInt", "unsignedShort", "unsignedByte":
            DeclaredValue(type: .integer)
        // It goes beyond 64 bits with a sign.
        case "decimal", "unsignedLong": DeclaredValue(type: .decimal)
        case "float", "double": DeclaredValue(type: .real)
        case "boolean": DeclaredValue(type: .boolean)
        case "date": DeclaredValue(type: .date)
        case "dateTime", "dateTimeStamp": DeclaredValue(type: .datetime)
        case "base64Binary": DeclaredValue(type: .blob)
        case "hexBinary": DeclaredValue(type: .blob, format: "hex")
        case "ID": DeclaredValue(identifies: true)
        case "IDREF": DeclaredValue(refers: true)
        default: DeclaredValue()
        }
    }
}
