import FeedModel

/// The messages and enumerations of Protocol Buffers by their full names, and the message that a body is.
package struct ProtobufSchema: Sendable, Hashable {
    /// The types of fields, in the order of their numbers in `FieldDescriptorProto`.
    enum FieldType: String, CaseIterable, Sendable {
        case double, float, int64, uint64, int32, fixed64, fixed32, bool, string, group, message, bytes, uint32
        case enumeration = "enum"
        case sfixed32, sfixed64, sint32, sint64

        /// The wire type of a value (Protocol Buffers, "Encoding").
        var wireType: WireType {
            switch self {
            case .double, .fixed64, .sfixed64: .fixed64
            case .float, .fixed32, .sfixed32: .fixed32
            case .string, .bytes, .message: .length
            case .group: .group
            default: .varint
            }
        }
    }

    enum WireType: UInt64, Sendable {
        case varint, fixed64, length, group, endOfGroup, fixed32
    }

    struct Field: Sendable, Hashable {
        var name: String
        var type: FieldType
        /// The name of the field's message or enumeration; empty for other types.
        var typeName = ""
        var isRepeated = false

        /// True for repeated numbers, which may be written as one field.
        var isPackable: Bool { isRepeated && ![.length, .group].contains(type.wireType) }
    }

    /// The element that a body is read as.
    package static let rootName = "protobuf"

    /// The full name of the message that a body is.
    var message: String
    /// The fields of each message by their numbers.
    var messages: [String: [Int: Field]] = [:]
    /// The names of each enumeration's values.
    var enumerations: [String: [Int32: String]] = [:]
    /// A name for the bytes of a declared descriptor set.
    var fingerprint = ""
}

extension ProtobufSchema {
    /// Returns true if a path of fields, from that of the body on, leads to a floating-point number.
    package func isFloat(_ path: [String]) -> Bool {
        var message = message
        for (index, name) in path.enumerated() {
            guard let field = messages[message]?.values.first(where: { $0.name == name }) else { return false }
            if index == path.count - 1 { return field.type == .float || field.type == .double }
            message = field.typeName
        }
        return false
    }
}

extension ProtobufSchema: CustomStringConvertible {
    package var description: String { "\(message) \(fingerprint)" }
}

/// A schema in the language of .proto files, as far as this program's own texts use it: messages and enumerations within one
/// another, fields, and values.
extension ProtobufSchema {
    init(package: String, message: String, _ text: String) {
        self.message = "\(package).\(message)"
        var scopes = [package]
        for match in text.matches(of: #/([^;{}]*)([;{}])/#) {
            let words = match.1.split { $0.isWhitespace || $0 == "=" }.map(String.init)
            let scope = scopes[scopes.count - 1]
            switch (match.2, words.count) {
            case ("{", _):
                scopes.append("\(scope).\(words[1])")
                if words[0] == "enum" { enumerations[scopes[scopes.count - 1]] = [:] }
            case ("}", _): scopes.removeLast()
            case (_, 2): enumerations[scope]?[Int32(words[1]) ?? 0] = words[0]
            default:
                let (type, name) = (words[words.count - 3], words[words.count - 2])
                let known = FieldType(rawValue: type)
                messages[scope, default: [:]][Int(words[words.count - 1]) ?? 0] = Field(
                    name: name, type: known ?? .message, typeName: known == nil ? type : "",
                    isRepeated: words[0] == "repeated")
            }
        }
        for (scope, fields) in messages {
            for (number, field) in fields where !field.typeName.isEmpty {
                let name = resolve(field.typeName, in: scope)
                messages[scope]?[number]?.typeName = name
                if enumerations[name] != nil { messages[scope]?[number]?.type = .enumeration }
            }
        }
    }

    /// Returns the full name of the innermost type that is seen in a scope.
    private func resolve(_ name: String, in scope: String) -> String {
        var scope = scope[...]
        while messages["\(scope).\(name)"] == nil, enumerations["\(scope).\(name)"] == nil,
            let end = scope.lastIndex(of: ".")
        {
            scope = scope[..<end]
        }
        return "\(scope).\(name)"
    }
}
