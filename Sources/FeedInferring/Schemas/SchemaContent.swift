import XMLStream

/// What elements of one type hold.
struct SchemaContent {
    /// An element that may occur, and how often.
    struct Child {
        /// The declaration, or the reference to it, and the name under which it occurs.
        var element: SchemaNode
        var name: SchemaName
        var isRequired: Bool
        var repeats: Bool
    }

    struct Attribute {
        var name: SchemaName
        var value: DeclaredValue
    }

    private(set) var children: [Child] = []
    private var places: [SchemaName: Int] = [:]
    /// True if any other element may occur.
    var hasWildcard = false
    private(set) var attributes: [Attribute] = []
    private var attributeNames: Set<SchemaName> = []
    /// The type of the text; nil without text.
    var value: DeclaredValue?
    var isMixed = false
    /// True if nothing is known of the content.
    var isAny = false

    /// Adds an attribute, unless there is one of its name.
    mutating func add(_ attribute: Attribute) {
        if attributeNames.insert(attribute.name).inserted { attributes.append(attribute) }
    }

    /// Adds an element that may follow or precede the existing ones.
    mutating func add(_ child: Child) {
        if let place = places[child.name] {
            children[place].repeats = true
            if child.isRequired { children[place].isRequired = true }
        } else {
            append(child)
        }
    }

    /// Adds an element that may occur instead of the existing ones.
    mutating func addAlternative(_ child: Child) {
        if let place = places[child.name] {
            children[place].repeats = children[place].repeats || child.repeats
            children[place].isRequired = children[place].isRequired && child.isRequired
        } else {
            append(child)
        }
    }

    private mutating func append(_ child: Child) {
        places[child.name] = children.count
        children.append(child)
    }

    /// Adds the content of a part of a model.
    ///
    /// - Parameter isAlternative: true for a part of a choice.
    mutating func add(_ part: SchemaContent, isAlternative: Bool, isRequired: Bool, repeats: Bool) {
        for var child in part.children {
            child.isRequired = child.isRequired && isRequired
            child.repeats = child.repeats || repeats
            if isAlternative { addAlternative(child) } else { add(child) }
        }
        hasWildcard = hasWildcard || part.hasWildcard
    }
}

/// The type of an element.
enum SchemaType {
    case simple(DeclaredValue)
    case complex(SchemaNode)
    /// Any content.
    case any
}
