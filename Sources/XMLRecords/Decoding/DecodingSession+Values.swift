import Foundation
import XMLStream

/// Converts places in the tree to values.
extension DecodingSession {
    /// - Parameters:
    ///   - node: the element that the field belongs to, for messages.
    @inline(__always)
    func value<Value: XMLConvertible>(
        _ type: Value.Type, at place: ElementPlace, in node: Int32, for field: FieldLayout
    ) throws -> Value {
        guard place.exists else { throw missing(field, in: node) }
        if field.transform == nil {
            if let value = Value(xmlText: tree.text(at: place)) { return value }
        } else {
            var text = try transformedText(at: place, in: node, for: field)
            if let value = text.withUTF8({ Value(xmlText: $0) }) { return value }
        }
        throw refusal("is not \(Value.xmlDescription)", at: place, in: node, for: field)
    }

    /// Returns nil if there is no place, and where there is no text unless a string is wanted.
    @inline(__always)
    func optionalValue<Value: XMLConvertible>(
        _ type: Value.Type, at place: ElementPlace, in node: Int32, for field: FieldLayout
    ) throws -> Value? {
        guard place.exists, Value.self == String.self || !tree.text(at: place).isEmpty else { return nil }
        return try value(type, at: place, in: node, for: field)
    }

    /// Decodes a value of any type.
    func decode<Value: Decodable>(
        _ type: Value.Type, at place: ElementPlace, in node: Int32, for field: FieldLayout
    ) throws -> Value {
        let layout = try field.layout(for: type, in: self)
        switch layout.kind {
        case .text: return same(try value(String.self, at: place, in: node, for: field), as: type)
        case .date: return same(try date(at: place, in: node, for: field), as: type)
        case .convertible(let convertible):
            func convert<Text: XMLConvertible>(_ text: Text.Type) throws -> Value {
                same(try value(text, at: place, in: node, for: field), as: type)
            }
            return try convert(convertible)
        case .list, .dictionary, .optional: break
        case .other: guard place.exists else { throw missing(field, in: node) }
        }
        guard let record = layout.record else { return try make(type, layout, at: place, in: node, for: field) }
        guard !place.isAttribute else { throw refusal(Self.notARecord, at: place, in: node, for: field) }
        let chosen = record.recordType(for: view(place.node, for: record))
        if chosen == type { return try make(type, layout, at: place, in: node, for: field) }
        guard let value = try decode(any: chosen, at: place, in: node, for: field) as? Value else {
            throw refusal("is a \(chosen), which is not a \(type)", at: place, in: node, for: field)
        }
        return value
    }

    static let notARecord = "is an attribute, where an element is needed"

    private func decode(
        any type: any XMLRecord.Type, at place: ElementPlace, in node: Int32, for field: FieldLayout
    ) throws -> any XMLRecord {
        func open<Record: XMLRecord>(_ type: Record.Type) throws -> any XMLRecord {
            try make(type, layout(for: type), at: place, in: node, for: field)
        }
        return try open(type)
    }

    /// The most values within values, lists included. A type that contains itself must not use up the stack, which is
    /// half a megabyte on some threads.
    private static let depthLimit = 128

    /// Decodes a value with the type's own `init(from:)`.
    func make<Value: Decodable>(
        _ type: Value.Type, _ layout: TypeLayout, at place: ElementPlace, in node: Int32, for field: FieldLayout
    ) throws -> Value {
        guard depth < Self.depthLimit else {
            throw refusal("lies more than \(Self.depthLimit) values deep", at: place, in: node, for: field)
        }
        depth += 1
        defer { depth -= 1 }
        do {
            return try Value(
                from: ElementDecoder(session: self, place: place, node: node, field: field, layout: layout))
        } catch let error as DecodingError {
            throw refusal(Self.reason(error, type), at: place, in: node, for: field)
        }
    }

    private func date(at place: ElementPlace, in node: Int32, for field: FieldLayout) throws -> Date {
        guard let format = field.dateFormat else { return try value(Date.self, at: place, in: node, for: field) }
        guard place.exists else { throw missing(field, in: node) }
        var text = try transformedText(at: place, in: node, for: field)
        guard let date = text.withUTF8({ format.date($0) }) else {
            throw refusal("is not a date of the form '\(format.pattern)'", at: place, in: node, for: field)
        }
        return date
    }

    private func transformedText(at place: ElementPlace, in node: Int32, for field: FieldLayout) throws -> String {
        let text = String(decoding: tree.text(at: place), as: UTF8.self)
        guard let transform = field.transform else { return text }
        do {
            return try transform.decode(text)
        } catch {
            throw refusal("cannot be transformed: \(error)", at: place, in: node, for: field)
        }
    }

    /// Returns the value as the type that it has, which is known from its type's layout.
    @inline(__always)
    private func same<Value, Wanted>(_ value: Value, as type: Wanted.Type) -> Wanted {
        unsafeBitCast(value, to: type)
    }

    // MARK: - Errors

    func missing(_ field: FieldLayout, in node: Int32) -> XMLRecordError {
        let reason: String
        if let path = field.path, path.text != field.key {
            reason = "there is nothing at '\(path.text)'"
        } else {
            reason = "there is no attribute or element of this name"
        }
        return XMLRecordError(line: tree.line(of: node), element: tree.name(of: node), key: field.key, reason: reason)
    }

    func refusal(
        _ reason: String, at place: ElementPlace, in node: Int32, for field: FieldLayout
    ) -> XMLRecordError {
        let isRoot = field === root
        let found = place.exists ? place : ElementPlace(node: node)
        let hasText = place.exists && (place.isAttribute || tree.nodes[place.node].firstChild == ElementTree.none)
        return XMLRecordError(
            line: tree.line(of: found.node), element: tree.name(of: isRoot ? found.node : node),
            key: isRoot ? nil : field.key,
            value: hasText ? String(decoding: tree.text(at: place), as: UTF8.self) : nil, reason: reason)
    }

    private static func reason(_ error: DecodingError, _ type: Any.Type) -> String {
        if case .dataCorrupted = error, let expected = rawValues(of: type) { return "is not \(expected)" }
        switch error {
        case .dataCorrupted(let context), .keyNotFound(_, let context), .typeMismatch(_, let context),
            .valueNotFound(_, let context):
            return "is not a \(type): \(context.debugDescription)"
        @unknown default: return "is not a \(type): \(error)"
        }
    }

    /// Returns `one of red, green`; nil for a type that is not an enumeration with raw values.
    private static func rawValues(of type: Any.Type) -> String? {
        func cases<Enumeration: CaseIterable>(_ type: Enumeration.Type) -> [String] {
            type.allCases.compactMap { ($0 as? any RawRepresentable).map { "\($0.rawValue)" } }
        }
        if let type = type as? any (CaseIterable & RawRepresentable).Type {
            return "one of " + cases(type).joined(separator: ", ")
        }
        return type is any RawRepresentable.Type ? "one of \(type)" : nil
    }
}
