import FeedConfiguration
import XMLStream

/// The division of an element's content into values of its record and records of their own.
///
/// An element that occurs at most once in its parent is a value, at any depth: the attributes and texts of single
/// children become columns. An element that repeats, or lies within one of its own name, is a table.
struct RecordShape {
    private(set) var values: [RecordValue] = []
    private(set) var records: [ElementProfile] = []

    init(_ record: ElementProfile) {
        add(record, [])
    }

    private mutating func add(_ element: ElementProfile, _ steps: [ElementProfile]) {
        for attribute in element.data {
            values.append(
                RecordValue(steps: steps, holder: element, attribute: attribute.name, profile: attribute.value))
        }
        let isProse = element.isProse
        // A leaf that is always empty may be filled in a later document. An empty leaf with attributes has its values
        // there.
        let isLeaf = element.isLeaf && element.data.isEmpty && !steps.isEmpty
        if isProse || isLeaf || element.text.filled > 0 {
            values.append(RecordValue(steps: steps, holder: element, isProse: isProse, profile: element.text))
        }
        guard !isProse else { return }
        for child in element.children {
            if child.maximum > 1 || child.isRecursive {
                if child.hasContent { records.append(child) }
            } else {
                add(child, steps + [child])
            }
        }
    }
}

/// A value of a record: an attribute, or the text of an element.
struct RecordValue {
    /// The elements from the record to the value's element, without the record itself.
    let steps: [ElementProfile]
    let holder: ElementProfile
    /// The name of the attribute; nil for the element's text.
    var attribute: XMLName?
    /// True if the content is running text with markup.
    var isProse = false
    private(set) var profile: ValueProfile

    func path(_ writer: PathWriter) -> String {
        if let attribute { return writer.path(steps, attribute: attribute, of: holder) }
        let path = writer.path(steps)
        return isProse && !holder.holdsMarkup ? "string(\(path))" : path
    }

    /// The type of the value's column.
    var type: ValueType {
        if isProse { return holder.holdsMarkup ? .xml : .text }
        if let declared = profile.declaredType { return declared }
        if profile.isNumber, MoneyName.isMoney(names) { return .decimal }
        return isCode ? .text : profile.type
    }

    /// How the value is written, where the column's type does not say it.
    var writing: ValueWriting? {
        guard !isProse, profile.declared == nil, let writing = profile.writing else { return nil }
        return type != .text || writing.doubt != nil && !isCode ? writing : nil
    }

    private var isCode: Bool { CodeName.isCode(attribute?.local ?? holder.name.local) }

    /// True for values whose notation no schema says.
    var hasNotation: Bool { !isProse && !isCode && profile.declared == nil }

    /// Decides what the values leave open by those of other columns.
    mutating func settle(_ notation: DocumentNotation) {
        if hasNotation { profile.settle(notation) }
    }

    /// True for times that name no offset.
    var lacksOffset: Bool { type == .datetime && (profile.hasLocalTime || writing != nil) }

    /// What is the same in equal values of a local notation; nil for values that their type compares.
    var spelling: ValueSpelling? {
        guard let keys = writing?.keys.map(\.0), !keys.isEmpty else { return nil }
        return keys.contains("format") ? .date : .number(hasDecimalComma: keys.contains("decimal_separator"))
    }

    /// The type by which values are compared, in their ``spelling`` if they have one.
    var comparedType: ValueType { spelling == .date ? .text : type }

    /// True where a schema says that each record has it.
    var isRequired: Bool {
        guard !isProse, let declared = profile.declared, declared.isRequired else { return false }
        return steps.allSatisfy { $0.declaration?.isRequired ?? false }
    }

    /// The parts of a column's name.
    var names: [String] {
        var names = steps.map(\.columnName)
        if let attribute {
            let hasTwin = holder.attributeTwins.contains(attribute.local)
            names.append(SQLName.snakeCase(hasTwin ? attribute.qualified : attribute.local))
        }
        return names.isEmpty ? ["value"] : names
    }

    /// The last name in lower case, its words joined without separators.
    var plainName: String {
        SQLName.plain(attribute?.local ?? holder.name.local)
    }
}

extension ElementProfile {
    /// True if it holds anything to load.
    var hasContent: Bool { !children.isEmpty || !data.isEmpty || text.filled > 0 || isProse }

    /// True if it holds more than text.
    var hasStructure: Bool { !data.isEmpty || !children.isEmpty && !isProse }
}
