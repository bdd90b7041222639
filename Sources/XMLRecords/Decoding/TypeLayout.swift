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
    private let rules: RecordRules
    /// The attributes of the type's own element to which one of its paths leads.
    private let attributes: Set<String>
    private let names: ElementNames

    /// The fields in the order of their first use. Later uses have the same order.
    @exclusivity(unchecked) private(set) var fields: [FieldLayout] = []
    private var fieldsByKey: [String: FieldLayout] = [:]
    @exclusivity(unchecked) private(set) var slotCount = 0
    /// The slots by the numbers of names, both as they are written and by their namespace.
    @exclusivity(unchecked) private var slotOfName = FlatArray<Int32>()
    private var nameOfSlot: [ElementName] = []
    /// True if some slot's name is known by its namespace.
    @exclusivity(unchecked) private(set) var bindsNames = false

    /// - Throws: ``XMLRecordError`` if a path or a date format of the type is invalid.
    init(_ type: Any.Type, names: ElementNames) throws {
        self.type = type
        id = ObjectIdentifier(type)
        self.names = names
        kind = Self.kind(of: type)
        record = type as? any XMLRecord.Type
        rules = try record.map { try RecordRules($0) } ?? RecordRules()
        attributes = Set(rules.paths.values.compactMap(\.ownAttribute))
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
    var pathKeys: [String] { rules.paths.keys.sorted() }

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
            rules.paths[key].map {
                FieldPath($0, text: record?.xmlPaths[key] ?? key, names: names, namespaces: rules.namespaces)
            }
            ?? FieldPath(key: key, isAttribute: !attributes.contains(key), names: names, namespaces: rules.namespaces)
        let field = FieldLayout(
            key: key, path: path, index: fields.count, transform: rules.transforms[key], dateFormat: rules.dateFormat,
            slot: slot(for: path))
        fields.append(field)
        fieldsByKey[key] = field
        return field
    }

    private func slot(for path: FieldPath) -> Int? {
        guard let name = path.steps.first?.name, name != .any else { return nil }
        let numbers = [name.written, name.expanded].filter { $0 >= 0 }
        if let known = numbers.lazy.compactMap({ self.slot(ofName: $0) }).first {
            // Another name that finds some of the same elements has no slot. It looks for them itself.
            return nameOfSlot[known] == name ? known : nil
        }
        guard slotCount < Self.slotLimit else { return nil }
        for number in numbers {
            if Int(number) >= slotOfName.count {
                slotOfName.append(repeating: -1, count: Int(number) + 1 - slotOfName.count)
            }
            slotOfName[number] = Int32(slotCount)
        }
        if name.expanded >= 0 { bindsNames = true }
        nameOfSlot.append(name)
        slotCount += 1
        return slotCount - 1
    }

    /// Returns the slot of the first child of this name; nil if no key's path begins with it.
    ///
    /// - Parameter name: the number of a name as it is written, or by its namespace.
    @inline(__always)
    func slot(ofName name: Int32) -> Int? {
        guard name >= 0, Int(name) < slotOfName.count, slotOfName[name] >= 0 else { return nil }
        return Int(slotOfName[name])
    }

    /// Returns the key under which the type knows a name of the document: with its own prefix for the namespace.
    func key(of name: ElementName) -> String {
        let written = names[name.written]
        guard name.expanded >= 0 else { return written }
        let local = written.lastIndex(of: ":").map { String(written[$0...].dropFirst()) } ?? written
        let namespace = names[name.expanded].dropFirst().dropLast(local.count + 1)
        let prefix = rules.namespaces.filter { $0.value == namespace }.keys.min()
        return prefix.map { $0.isEmpty ? local : $0 + ":" + local } ?? written
    }
}
