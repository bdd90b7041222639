import XMLStream

/// An encoding session's knowledge of one type.
final class OutputLayout {
    let isSet: Bool
    let isDictionary: Bool
    /// The name of the element for a value of the type, where nothing else names it.
    let element: String
    let rules: RecordRules
    private let ranks: [String: Int]
    private var fields: [String: OutputField] = [:]

    /// - Throws: ``XMLRecordError`` if a path or a date format of the type is invalid.
    init(_ type: Any.Type) throws {
        isSet = type is any XMLSetType.Type
        isDictionary = type is any XMLDictionaryType.Type
        let record = type as? any XMLRecord.Type
        element = record?.xmlElement ?? xmlElementName(of: (type as? any XMLOptionalType.Type)?.xmlWrappedType ?? type)
        rules = try record.map { try RecordRules($0) } ?? RecordRules()
        let order = record?.xmlOrder.enumerated().map { ($0.element, $0.offset) } ?? []
        ranks = Dictionary(order) { first, _ in first }
    }

    /// Creates the layout of containers whose type is not known.
    init(keys type: Any.Type) {
        isSet = false
        isDictionary = false
        element = xmlElementName(of: type)
        rules = RecordRules()
        ranks = [:]
    }

    func field(_ key: String) -> OutputField {
        if let field = fields[key] { return field }
        let field = OutputField(
            key: key, path: rules.paths[key] ?? .ofKey(key), transform: rules.transforms[key],
            dateFormat: rules.dateFormat, rank: ranks[key] ?? .max)
        fields[key] = field
        return field
    }
}

/// The rules for writing the value of one coding key.
struct OutputField {
    let key: String
    let path: XMLPath
    var transform: XMLTransform?
    var dateFormat: DateFormat?
    /// The place in the order that its type declares. Keys that the type does not mention share one place.
    var rank = Int.max

    /// The field for values without a key: a document's root, and the elements of a list that has none.
    static let root = OutputField(key: "", path: XMLPath())

    /// The field of a dictionary's entries, or of a list's elements, that have no path of their own.
    var elements: OutputField {
        OutputField(key: key, path: XMLPath(), transform: transform, dateFormat: dateFormat, rank: rank)
    }

    func refusal(_ reason: String, value: String? = nil, in element: OutputElement) -> XMLRecordError {
        XMLRecordError(element: element.name, key: key.isEmpty ? nil : key, value: value, reason: reason)
    }
}
