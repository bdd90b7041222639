import Foundation
import Synchronization
import XMLStream

/// The state for decoding one record after another, kept for the next: the tree, the names and the types' layouts.
///
/// Not `Sendable`: it belongs to one parser, or to one call of a decoder.
final class DecodingSession {
    let tree: ElementTree
    let userInfo: [CodingUserInfoKey: any Sendable]
    /// The children that containers have noted, and the elements of lists. Emptied for every record.
    @exclusivity(unchecked) var notes = FlatArray<Int32>(capacity: 256)
    /// The field of a document's own element, which has no key.
    let root = FieldLayout(key: "", path: nil)
    /// The number of values whose `init(from:)` is running.
    @exclusivity(unchecked) private var depth = 0
    private var layouts: [ObjectIdentifier: TypeLayout] = [:]
    private var paths: [PathKey: FieldPath] = [:]

    private struct PathKey: Hashable {
        let text: String
        let record: ObjectIdentifier
    }

    init(userInfo: [CodingUserInfoKey: any Sendable] = [:], byteLimit: Int = ElementTree.byteLimit) {
        tree = ElementTree(byteLimit: byteLimit)
        self.userInfo = userInfo
    }

    /// Empties the session for the next record.
    func clear() {
        tree.clear()
        notes.truncate(to: 0)
    }

    func layout(for type: Any.Type) throws -> TypeLayout {
        if let layout = layouts[ObjectIdentifier(type)] { return layout }
        let layout = try TypeLayout(type, names: tree.names)
        layouts[layout.id] = layout
        return layout
    }

    /// Returns the path for a text, parsed once.
    ///
    /// - Parameter record: the type that uses the path, with its prefixes.
    func path(_ text: String, of record: any XMLRecord.Type) throws -> FieldPath {
        let key = PathKey(text: text, record: ObjectIdentifier(record))
        if let path = paths[key] { return path }
        let path = FieldPath(
            try XMLPath.ofRecord(text), text: text, names: tree.names, namespaces: record.xmlNamespaces)
        paths[key] = path
        return path
    }

    func view(_ node: Int32, for record: any XMLRecord.Type) -> XMLElementView {
        XMLElementView(session: self, node: node, record: record)
    }
}

/// Follows paths through the tree.
extension DecodingSession {
    /// Notes the first child for each name that begins a path of the type, and the position reached among its keys.
    ///
    /// - Returns: the index at which the notes begin.
    @inline(__always)
    func noteChildren(of node: Int32, for layout: TypeLayout) -> Int {
        let start = notes.count
        notes.append(0)
        notes.append(Int32(layout.slotCount))
        notes.append(repeating: ElementTree.none, count: layout.slotCount)
        var child = tree.nodes[node].firstChild
        while child != ElementTree.none {
            note(child, layout.slot(ofName: tree.nodes[child].name.written), notes: start)
            if layout.bindsNames { note(child, layout.slot(ofName: tree.nodes[child].name.expanded), notes: start) }
            child = tree.nodes[child].next
        }
        return start
    }

    @inline(__always)
    private func note(_ child: Int32, _ slot: Int?, notes start: Int) {
        if let slot, notes[start + 2 + slot] == ElementTree.none { notes[start + 2 + slot] = child }
    }

    /// Returns the place of a key's value, or a missing one.
    @inline(__always)
    func place(of field: FieldLayout, path: FieldPath, in node: Int32, notes start: Int) -> ElementPlace {
        switch path.form {
        case .attributeOrChild(let name):
            if tree.hasAttributes(node) {
                let attribute = tree.attribute(name, of: node)
                if attribute.exists { return attribute }
            }
            return ElementPlace(node: firstChild(of: node, name, field, notes: start))
        case .child(let name): return ElementPlace(node: firstChild(of: node, name, field, notes: start))
        case .attribute(let name): return tree.attribute(name, of: node)
        case .own: return ElementPlace(node: node)
        case .steps: return firstPlace(at: path, in: node)
        }
    }

    @inline(__always)
    private func firstChild(of node: Int32, _ name: ElementName, _ field: FieldLayout, notes start: Int) -> Int32 {
        if let slot = field.slot, slot < Int(notes[start + 1]) { return notes[start + 2 + slot] }
        // The key was not known yet when the children were noted.
        var child = tree.nodes[node].firstChild
        while child != ElementTree.none, !name.finds(tree.nodes[child].name) { child = tree.nodes[child].next }
        return child
    }

    /// Returns the first place at a path, or a missing one.
    func firstPlace(at path: FieldPath, in node: Int32) -> ElementPlace {
        if case .attributeOrChild(let name) = path.form {
            let attribute = tree.attribute(name, of: node)
            if attribute.exists { return attribute }
        }
        return firstPlace(path.steps[...], path.attribute, in: node)
    }

    private func firstPlace(_ steps: ArraySlice<FieldPath.Step>, _ attribute: ElementName?, in node: Int32)
        -> ElementPlace
    {
        guard let step = steps.first else {
            return attribute.map { tree.attribute($0, of: node) } ?? ElementPlace(node: node)
        }
        var child = tree.nodes[node].firstChild
        while child != ElementTree.none {
            if matches(child, step) {
                let place = firstPlace(steps.dropFirst(), attribute, in: child)
                if place.exists { return place }
            }
            child = tree.nodes[child].next
        }
        return .missing
    }

    /// Appends the elements at a path.
    func collect(at path: FieldPath, in node: Int32, into nodes: inout FlatArray<Int32>) {
        collect(path.steps[...], in: node, into: &nodes)
    }

    private func collect(_ steps: ArraySlice<FieldPath.Step>, in node: Int32, into nodes: inout FlatArray<Int32>) {
        guard let step = steps.first else { return nodes.append(node) }
        let rest = steps.dropFirst()
        var child = tree.nodes[node].firstChild
        while child != ElementTree.none {
            if matches(child, step) {
                if rest.isEmpty { nodes.append(child) } else { collect(rest, in: child, into: &nodes) }
            }
            child = tree.nodes[child].next
        }
    }

    private func matches(_ node: Int32, _ step: FieldPath.Step) -> Bool {
        guard step.name == .any || step.name.finds(tree.nodes[node].name) else { return false }
        return step.predicates.isEmpty
            || step.predicates.allSatisfy { predicate in
                let place = tree.attribute(predicate.attribute, of: node)
                guard place.exists else { return false }
                return predicate.condition.accepts(tree.text(at: place))
            }
    }
}

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

/// The sessions that a decoder is not using at the moment, ready for reuse.
final class DecodingSessionPool: Sendable {
    /// A session and its memory, passed from one call to the next.
    ///
    /// `@unchecked Sendable`: a session is either in the pool or used by one call, never both.
    private struct Spare: @unchecked Sendable {
        let session: DecodingSession
    }

    /// The most names, and the most bytes in a record, with which a session is kept.
    private static let nameLimit = 2_000
    private static let byteLimit = 1 << 20

    private let spares = Mutex<[Spare]>([])

    func withSession<Result>(
        _ userInfo: [CodingUserInfoKey: any Sendable], _ body: (DecodingSession) throws -> Result
    ) rethrows -> Result {
        let session = spares.withLock { $0.popLast() }?.session ?? DecodingSession(userInfo: userInfo)
        defer {
            if session.tree.names.count <= Self.nameLimit, session.tree.byteCount <= Self.byteLimit {
                spares.withLock { if $0.count < 4 { $0.append(Spare(session: session)) } }
            }
        }
        return try body(session)
    }
}
