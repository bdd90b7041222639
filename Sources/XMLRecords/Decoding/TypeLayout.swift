import Foundation
import XMLStream

/// A session's knowledge of one type: the way its values are decoded, and the place of each coding key's value.
final class TypeLayout {
    enum Kind {
        /// Read from text, without the type's own `init(from:)`.
        case text
        case date
        case convertible(any XMLConvertible.Type)
        /// An array or a set, with the type of its elements.
        case list(element: Any.Type)
        /// A dictionary, with the type of its values.
        case dictionary(value: Any.Type)
        case optional
        /// Decoded by the type's own `init(from:)`.
        case other
    }

    /// The most children that a container notes. A type with more keys has invented them while decoding, and noting
    /// them for every element could take any amount of memory.
    private static let slotLimit = 256

    let type: Any.Type
    let id: ObjectIdentifier
    let kind: Kind
    let record: (any XMLRecord.Type)?
    private let paths: [String: XMLPath]
    /// The attributes of the type's own element to which one of its paths leads.
    private let attributes: Set<String>
    private let transforms: [String: XMLTransform]
    private let dateFormat: DateFormat?
    private let names: ElementNames

    /// The fields in the order in which they were first asked for. Later requests come in the same order.
    @exclusivity(unchecked) private(set) var fields: [FieldLayout] = []
    private var fieldsByKey: [String: FieldLayout] = [:]
    @exclusivity(unchecked) private(set) var slotCount = 0
    @exclusivity(unchecked) private var slotOfName = FlatArray<Int32>()

    /// - Throws: ``XMLRecordError`` where a path or a date format of the type is invalid.
    init(_ type: Any.Type, names: ElementNames) throws {
        self.type = type
        id = ObjectIdentifier(type)
        self.names = names
        kind = Self.kind(of: type)
        record = type as? any XMLRecord.Type
        paths = try record.map { try XMLPath.paths(of: $0) } ?? [:]
        attributes = Set(paths.values.compactMap(\.ownAttribute))
        transforms = record?.xmlTransforms ?? [:]
        dateFormat = try record.flatMap { try DateFormat.format(of: $0) }
    }

    private static func kind(of type: Any.Type) -> Kind {
        if type == String.self { return .text }
        if type == Date.self { return .date }
        if let convertible = type as? any XMLConvertible.Type { return .convertible(convertible) }
        if let list = type as? any XMLListType.Type { return .list(element: list.xmlElementType) }
        if let dictionary = type as? any XMLDictionaryType.Type { return .dictionary(value: dictionary.xmlValueType) }
        if type is any XMLOptionalType.Type { return .optional }
        return .other
    }

    /// The coding keys for which the type gives a path.
    var pathKeys: [String] { paths.keys.sorted() }

    // MARK: - Keys

    @inline(__always)
    func field(_ key: String, expectedAt position: Int) -> FieldLayout {
        if position < fields.count {
            let field = fields[position]
            if field.key == key { return field }
        }
        return field(key)
    }

    @inline(never)
    func field(_ key: String) -> FieldLayout {
        if let field = fieldsByKey[key] { return field }
        let path =
            paths[key].map { FieldPath($0, text: record?.xmlPaths[key] ?? key, names: names) }
            ?? FieldPath(key: key, isAttribute: !attributes.contains(key), names: names)
        let field = FieldLayout(
            key: key, path: path, index: fields.count, transform: transforms[key], dateFormat: dateFormat,
            slot: slot(for: path))
        fields.append(field)
        fieldsByKey[key] = field
        return field
    }

    private func slot(for path: FieldPath) -> Int? {
        guard let name = path.steps.first?.name, name != FieldPath.Step.anyName else { return nil }
        if let known = slot(ofName: name) { return known }
        guard slotCount < Self.slotLimit else { return nil }
        if Int(name) >= slotOfName.count {
            slotOfName.append(repeating: -1, count: Int(name) + 1 - slotOfName.count)
        }
        slotOfName[name] = Int32(slotCount)
        slotCount += 1
        return slotCount - 1
    }

    /// Returns the slot of the first child of this name; nil where no key's path begins with it.
    @inline(__always)
    func slot(ofName name: Int32) -> Int? {
        guard Int(name) < slotOfName.count, slotOfName[name] >= 0 else { return nil }
        return Int(slotOfName[name])
    }
}
