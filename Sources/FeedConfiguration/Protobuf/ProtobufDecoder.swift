import FeedModel
import Foundation
import XMLStream

/// The receiver of a message's fields, in the order of the bytes.
package protocol ProtobufEvents: AnyObject {
    /// Begins a field.
    func start(_ name: String) throws

    /// Receives the whole value of the field, unless it is a message.
    func text(_ bytes: UnsafeBufferPointer<UInt8>) throws

    /// Ends the innermost field.
    func end() throws
}

/// A fault of the bytes of a message, with its place.
package struct ProtobufProblem: Error, CustomStringConvertible {
    package let offset: Int
    /// The path of the field, and what is wrong with it; follows the offset.
    package let text: String

    package var description: String { "byte \(offset)\(text)" }
}

/// Decodes a message in Protocol Buffers while it arrives.
///
/// It is written here because SwiftProtobuf knows only messages that are compiled into the program, and holds a whole message.
package final class ProtobufDecoder {
    /// The most messages and groups within one another.
    private static let depthLimit = 512
    /// The most bytes of a text or of bytes.
    private static let textLimit = XMLLimits().textLength
    /// The largest number of a field.
    private static let numberLimit = (1 << 29) - 1
    /// The most fields in the path of an error: the innermost ones.
    private static let shownFields = 10

    private typealias Field = ProtobufSchema.Field

    private enum Content {
        /// Fields of a message, by their numbers.
        case message([Int: Field])
        /// Numbers of a repeated field.
        case packed(Field)
        /// Fields of an unknown group.
        case skipped
    }

    private struct Frame {
        let content: Content
        let field: Field?
        /// The offset behind the last byte that belongs to it, or may do so.
        let end: Int
        /// The number of the field whose end is written; nil if the length is.
        var group: Int?
    }

    private enum Step {
        case tag, varint, length
        case fixed(size: Int)
        /// The rest of a value with a length, up to an offset.
        case bytes(end: Int)
    }

    private let schema: ProtobufSchema
    // Not retained: the receiver owns the decoder or outlives it.
    private unowned let events: any ProtobufEvents
    // `@exclusivity(unchecked)`: used by the run's executor only, several times a byte.
    /// The innermost open message, group or list, and those around it.
    @exclusivity(unchecked) private var frame: Frame
    @exclusivity(unchecked) private var outer: [Frame] = []
    @exclusivity(unchecked) private var step = Step.tag
    /// The field that has begun; nil for an unknown one.
    @exclusivity(unchecked) private var field: Field?
    /// The bits so far of a number, and the bytes that they come from.
    @exclusivity(unchecked) private var bits: UInt64 = 0
    @exclusivity(unchecked) private var size = 0
    /// The bytes so far of a text.
    @exclusivity(unchecked) private var collected: [UInt8] = []
    @exclusivity(unchecked) private var offset = 0
    /// The offset of the value that is read.
    @exclusivity(unchecked) private var start = 0

    package init(_ schema: ProtobufSchema, _ events: any ProtobufEvents) {
        self.schema = schema
        self.events = events
        frame = Frame(content: .message(schema.messages[schema.message] ?? [:]), field: nil, end: .max)
    }

    /// The number of fields of the outermost message that have begun.
    package private(set) var count = 0

    /// - Throws: ``ProtobufProblem``, and the errors of the receiver.
    package func read(_ bytes: UnsafeRawBufferPointer) throws {
        let bytes = bytes.bindMemory(to: UInt8.self)
        var index = 0
        while index < bytes.count {
            if case .bytes(let end) = step {
                let part = UnsafeBufferPointer(rebasing: bytes[index...].prefix(end - offset))
                index += part.count
                offset += part.count
                try take(part, isLast: offset == end)
            } else {
                let byte = bytes[index]
                if size == 0 { start = offset }
                guard offset < frame.end else {
                    throw problem("a number continues behind the end of the message or of the list")
                }
                index += 1
                offset += 1
                try take(byte)
            }
        }
    }

    /// - Throws: ``ProtobufProblem`` if the message is not complete. The end of a field is taken for the end of the message.
    package func finish() throws {
        guard outer.isEmpty, case .tag = step, size == 0 else {
            start = offset
            throw problem("the body ends within a field; it was probably cut off")
        }
    }

    // MARK: - Numbers

    private func take(_ byte: UInt8) throws {
        if case .fixed(let count) = step {
            bits |= UInt64(byte) << (8 * size)
            size += 1
            guard size == count else { return }
        } else {
            // The tenth byte has the last of 64 bits.
            guard size < 9 || byte < 2 else { throw problem("a varint has more than 64 bits") }
            bits |= UInt64(byte & 0x7F) << (7 * size)
            size += 1
            guard byte < 0x80 else { return }
        }
        let number = bits
        (bits, size) = (0, 0)
        switch step {
        case .tag: try begin(number)
        case .length: try open(number)
        default: try emit(number)
        }
    }

    private func begin(_ tag: UInt64) throws {
        let number = Int(tag >> 3)
        guard (1...Self.numberLimit).contains(number) else { throw problem("\(number) is no number of a field") }
        guard let wireType = ProtobufSchema.WireType(rawValue: tag & 7) else {
            throw problem("the field \(number) has the wire type \(tag & 7), which does not exist")
        }
        if wireType == .endOfGroup {
            guard frame.group == number else { throw problem("the group \(number) ends here, but has not begun") }
            return try close()
        }
        if case .message(let fields) = frame.content { field = fields[number] }
        if outer.isEmpty { count += 1 }
        if let field {
            // A message may also be written as a group (editions, features.message_encoding).
            let isOther = field.type.wireType != wireType && !(field.isPackable && wireType == .length)
            guard !isOther || field.type == .message && wireType == .group else {
                throw problem("the field has the wire type \(wireType.rawValue), not \(field.type.wireType.rawValue)")
            }
        }
        switch wireType {
        case .varint: step = .varint
        case .fixed64: step = .fixed(size: 8)
        case .fixed32: step = .fixed(size: 4)
        case .length: step = .length
        default: try push(field.map(message) ?? .skipped, end: frame.end, group: number)
        }
    }

    private func emit(_ number: UInt64) throws {
        var field = field
        if case .packed(let repeated) = frame.content { field = repeated }
        if let field {
            var text = field.type.text(number, schema.enumerations[field.typeName])
            try events.start(field.name)
            try text.withUTF8 { try events.text($0) }
            try events.end()
        }
        try complete()
    }

    // MARK: - Values with a length

    private func open(_ length: UInt64) throws {
        guard length <= UInt64(frame.end - offset) else {
            throw problem("the length \(length) leads beyond the end of the message")
        }
        let end = offset + Int(length)
        if let field, field.type == .message { return try push(message(field), end: end) }
        if let field, field.isPackable { return try push(.packed(field), end: end) }
        guard field == nil || length <= Self.textLimit else {
            throw problem("a text is longer than \(Self.textLimit) bytes")
        }
        step = .bytes(end: end)
        if length == 0 { try take(UnsafeBufferPointer(start: nil, count: 0), isLast: true) }
    }

    private func take(_ part: UnsafeBufferPointer<UInt8>, isLast: Bool) throws {
        if let field {
            guard isLast else { return collected += part }
            try events.start(field.name)
            if collected.isEmpty {
                try emit(part, of: field)
            } else {
                collected += part
                try collected.withUnsafeBufferPointer { try emit($0, of: field) }
                collected.removeAll(keepingCapacity: collected.count < 64 << 10)
            }
            try events.end()
        }
        if isLast { try complete() }
    }

    private func emit(_ value: UnsafeBufferPointer<UInt8>, of field: Field) throws {
        if field.type == .bytes {
            return try Array(Data(buffer: value).base64EncodedData()).withUnsafeBufferPointer(events.text)
        }
        if value.allSatisfy({ $0 >= 0x20 && $0 < 0x80 }) { return try events.text(value) }
        guard String(validating: value, as: UTF8.self) != nil else { throw problem("a text is not valid UTF-8") }
        try XMLText.replacingForbidden(in: value).withUnsafeBufferPointer(events.text)
    }

    // MARK: - Messages

    private func message(_ field: Field) -> Content { .message(schema.messages[field.typeName] ?? [:]) }

    private func push(_ content: Content, end: Int, group: Int? = nil) throws {
        guard outer.count < Self.depthLimit else {
            throw problem("messages are nested more than \(Self.depthLimit) deep")
        }
        if case .message = content, let field { try events.start(field.name) }
        outer.append(frame)
        frame = Frame(content: content, field: field, end: end, group: group)
        try complete()
    }

    private func close() throws {
        if case .message = frame.content { try events.end() }
        frame = outer.removeLast()
        try complete()
    }

    /// Ends a value, and the messages that end with it.
    private func complete() throws {
        field = nil
        start = offset
        guard frame.end > offset else {
            guard frame.group == nil else { throw problem("the message ends within a group") }
            return try close()
        }
        guard case .packed(let field) = frame.content else { return step = .tag }
        switch field.type.wireType {
        case .fixed64: step = .fixed(size: 8)
        case .fixed32: step = .fixed(size: 4)
        default: step = .varint
        }
    }

    private func problem(_ message: String) -> ProtobufProblem {
        var path = ((outer + [frame]).compactMap(\.field) + (field.map { [$0] } ?? [])).map(\.name)
        if path.count > Self.shownFields { path = ["…"] + path.suffix(Self.shownFields) }
        let place = path.isEmpty ? "" : ", in " + path.joined(separator: "/").shortened(to: 1_000)
        return ProtobufProblem(offset: start, text: "\(place): \(message)")
    }
}

extension ProtobufSchema.FieldType {
    /// Returns the text of a number.
    fileprivate func text(_ bits: UInt64, _ names: [Int32: String]?) -> String {
        let half = UInt32(truncatingIfNeeded: bits)
        switch self {
        case .double: return Self.text(Double(bitPattern: bits))
        case .float: return Self.text(Float(bitPattern: half))
        case .int64, .sfixed64: return String(Int64(bitPattern: bits))
        case .int32, .sfixed32: return String(Int32(bitPattern: half))
        case .uint32, .fixed32: return String(half)
        case .sint64: return String(Int64(bitPattern: bits >> 1) ^ -Int64(bitPattern: bits & 1))
        case .sint32: return String(Int32(bitPattern: half >> 1) ^ -Int32(bitPattern: half & 1))
        case .bool: return bits == 0 ? "false" : "true"
        case .enumeration: return names?[Int32(bitPattern: half)] ?? String(Int32(bitPattern: half))
        default: return String(bits)
        }
    }

    /// Returns the shortest decimal number that is read as the same value; infinities and NaN as in XML Schema.
    private static func text(_ number: some BinaryFloatingPoint & CustomStringConvertible) -> String {
        let text = XMLText.number(number)
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
