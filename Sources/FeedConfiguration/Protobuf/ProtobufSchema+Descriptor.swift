import FeedModel

/// A schema from the descriptor set that `protoc --descriptor_set_out` writes: a `FileDescriptorSet`, which is itself a message.
extension ProtobufSchema {
    /// Reads all definitions. The message that a body is must be set.
    ///
    /// - Throws: ``Finding`` with a text that follows the file's name.
    init(descriptorSet: [UInt8]) throws(Finding) {
        let collector = PartCollector()
        do {
            let decoder = ProtobufDecoder(Self.descriptors, collector)
            try descriptorSet.withUnsafeBytes { try decoder.read($0) }
            try decoder.finish()
        } catch {
            throw Finding(
                "is no descriptor set: \(error)",
                help: "write one with protoc --include_imports --descriptor_set_out=FILE")
        }
        self.init(message: "", fingerprint: Fingerprint.hexadecimal(Fingerprint.hash(descriptorSet)))
        try add(collector.root)
    }

    /// The part of descriptor.proto that is read.
    private static let descriptors = ProtobufSchema(
        package: "google.protobuf", message: "FileDescriptorSet",
        """
        message FileDescriptorSet { repeated FileDescriptorProto file = 1; }
        message FileDescriptorProto {
            string package = 2; repeated DescriptorProto message_type = 4; repeated EnumDescriptorProto enum_type = 5;
            repeated FieldDescriptorProto extension = 7;
        }
        message DescriptorProto {
            string name = 1; repeated FieldDescriptorProto field = 2; repeated DescriptorProto nested_type = 3;
            repeated EnumDescriptorProto enum_type = 4; repeated FieldDescriptorProto extension = 6;
        }
        message FieldDescriptorProto {
            string name = 1; string extendee = 2; int32 number = 3; int32 label = 4; int32 type = 5; string type_name = 6;
        }
        message EnumDescriptorProto { string name = 1; repeated EnumValueDescriptorProto value = 2; }
        message EnumValueDescriptorProto { string name = 1; int32 number = 2; }
        """)

    private mutating func add(_ set: Part) throws(Finding) {
        var extensions: [(name: String, part: Part)] = []
        for file in set.all("file") {
            let package = file.text("package")
            add(file, within: package.isEmpty ? "" : package + ".", &extensions)
        }
        // The full name distinguishes an extension from the message's fields and from other extensions.
        for (name, part) in extensions {
            messages[Self.absolute(part.text("extendee"))]?[part.number("number")] = Self.field(part, name: name)
        }
        for field in messages.values.lazy.flatMap(\.values) {
            let isDefined =
                switch field.type {
                case .message, .group: messages[field.typeName] != nil
                case .enumeration: enumerations[field.typeName] != nil
                default: true
                }
            guard isDefined else {
                throw Finding(
                    "does not define '\(field.typeName)', the type of the field '\(field.name)'",
                    help: "write the file with protoc --include_imports")
            }
        }
    }

    /// Adds what a file or a message defines.
    ///
    /// - Parameter scope: the beginning of the full names, with a dot at its end.
    private mutating func add(_ part: Part, within scope: String, _ extensions: inout [(name: String, part: Part)]) {
        for type in part.all("enum_type") {
            let values = type.all("value").map { (Int32(truncatingIfNeeded: $0.number("number")), $0.text("name")) }
            // Of several names of a value, the first one counts.
            enumerations[scope + type.text("name")] = Dictionary(values) { first, _ in first }
        }
        for type in part.all("message_type") + part.all("nested_type") {
            let name = scope + type.text("name")
            let fields = type.all("field").map { ($0.number("number"), Self.field($0, name: $0.text("name"))) }
            messages[name] = Dictionary(fields) { $1 }
            add(type, within: name + ".", &extensions)
        }
        extensions += part.all("extension").map { (scope + $0.text("name"), $0) }
    }

    private static func field(_ part: Part, name: String) -> Field {
        let (types, type) = (FieldType.allCases, part.number("type") - 1)
        // A field without a known type counts as one of a message that is not defined.
        return Field(
            name: name, type: types.indices.contains(type) ? types[type] : .message,
            typeName: absolute(part.text("type_name")), isRepeated: part.number("label") == 3)
    }

    private static func absolute(_ name: String) -> String { String(name.trimmingPrefix(".")) }
}

/// A field of a descriptor set, with the fields within it.
private final class Part {
    let name: String
    var text = ""
    var parts: [Part] = []

    init(_ name: String) { self.name = name }

    func all(_ name: String) -> [Part] { parts.filter { $0.name == name } }

    /// Returns the text of a singular field: the last one counts.
    func text(_ name: String) -> String { parts.last { $0.name == name }?.text ?? "" }

    func number(_ name: String) -> Int { Int(text(name)) ?? 0 }
}

private final class PartCollector: ProtobufEvents {
    /// The most fields of a descriptor set.
    private static let limit = 2_000_000

    let root = Part("")
    private lazy var open = [root]
    private var count = 0

    func start(_ name: String) throws {
        count += 1
        guard count <= Self.limit else {
            throw Finding("there are more than \(Self.limit) fields")
        }
        let part = Part(name)
        open[open.count - 1].parts.append(part)
        open.append(part)
    }

    func text(_ bytes: UnsafeBufferPointer<UInt8>) {
        open[open.count - 1].text = String(decoding: bytes, as: UTF8.self)
    }

    func end() { open.removeLast() }
}
