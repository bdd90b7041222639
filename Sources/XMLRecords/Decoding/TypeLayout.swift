import Foundation
import XMLStream

/// What a session has learnt of one type: how its values are decoded, and where each coding key's value lies.
final class TypeLayout {
    enum Kind {
        /// From text, without asking the type's own `init(from:)`.
        case text
        case date
        case convertible(any XMLConvertible.Type)
        /// An array or a set, and what its elements are.
        case list(element: Any.Type)
        /// And what its values are.
        case dictionary(value: Any.Type)
        case optional
        /// By the type's own `init(from:)`.
        case other
    }

    /// Containers note this many children at most. A type with more keys than that has made them up as it went along,
    /// and noting them for every element could take any amount of memory.
    private static let slotLimit = 256

    let type: Any.Type
    let id: ObjectIdentifier
    let kind: Kind
    let record: (any XMLRecord.Type)?
    private let paths: [String: XMLPath]
    /// The attributes of the type's own element that have a path to them.
    private let attributes: Set<String>
    private let transforms: [String: XMLTransform]
    private let dateFormat: DateFormat?
    private let names: ElementNames

    /// In the order in which they were first asked for, which is the order in which they are always asked for.
    @exclusivity(unchecked) private(set) var fields: [FieldLayout] = []
    private var fieldsByKey: [String: FieldLayout] = [:]
    @exclusivity(unchecked) private(set) var slotCount = 0
    @exclusivity(unchecked) private var slotOfName = FlatArray<Int32>()

    /// - Throws: ``XMLRecordError`` where a path or a date format of the type's is not one.
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

    /// Coding keys that the type gives a path to.
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

    /// Where the first child of this name is noted; nil where no key's path begins with it.
    @inline(__always)
    func slot(ofName name: Int32) -> Int? {
        guard Int(name) < slotOfName.count, slotOfName[name] >= 0 else { return nil }
        return Int(slotOfName[name])
    }
}
