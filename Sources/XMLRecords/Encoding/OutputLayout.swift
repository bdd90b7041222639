import XMLStream

/// An encoding session's knowledge of one type.
final class OutputLayout {
    let isSet: Bool
    let isDictionary: Bool
    /// The name of the element for a value of the type, where nothing else names it.
    let element: String
    let namespaces: [String: String]
    private let paths: [String: XMLPath]
    private let transforms: [String: XMLTransform]
    private let dateFormat: DateFormat?
    private let ranks: [String: Int]
    private var fields: [String: OutputField] = [:]

    /// - Throws: ``XMLRecordError`` if a path or a date format of the type is invalid.
    init(_ type: Any.Type) throws {
        isSet = type is any XMLSetType.Type
        isDictionary = type is any XMLDictionaryType.Type
        let record = type as? any XMLRecord.Type
        element = record?.xmlElement ?? xmlElementName(of: (type as? any XMLOptionalType.Type)?.xmlWrappedType ?? type)
        namespaces = record?.xmlNamespaces ?? [:]
        paths = try record.map { try XMLPath.paths(of: $0) } ?? [:]
        transforms = record?.xmlTransforms ?? [:]
        dateFormat = try record.flatMap { try DateFormat.format(of: $0) }
        let order = record?.xmlOrder.enumerated().map { ($0.element, $0.offset) } ?? []
        ranks = Dictionary(order) { first, _ in first }
    }

    /// Creates the layout of containers whose type is not known.
    init(keys type: Any.Type) {
        isSet = false
        isDictionary = false
        element = xmlElementName(of: type)
        namespaces = [:]
        paths = [:]
        transforms = [:]
        dateFormat = nil
        ranks = [:]
    }

    func field(_ key: String) -> OutputField {
        if let field = fields[key] { return field }
        let field = OutputField(
            key: key, path: paths[key] ?? .ofKey(key), transform: transforms[key], dateFormat: dateFormat,
            rank: ranks[key] ?? .max)
        fields[key] = field
        return field
    }
}
