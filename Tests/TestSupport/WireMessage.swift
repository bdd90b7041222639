/// A message in Protocol Buffers, written field by field.
package struct WireMessage: Sendable {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package func varint(_ field: Int, _ value: UInt64) -> Self {
        adding(Self.varint(UInt64(field) << 3), Self.varint(value))
    }

    package func number(_ field: Int, _ value: Int) -> Self { varint(field, UInt64(bitPattern: Int64(value))) }

    package func fixed64(_ field: Int, _ value: UInt64) -> Self {
        adding(Self.varint(UInt64(field) << 3 | 1), (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
    }

    package func fixed32(_ field: Int, _ value: UInt32) -> Self {
        adding(Self.varint(UInt64(field) << 3 | 5), (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
    }

    package func float(_ field: Int, _ value: Float) -> Self { fixed32(field, value.bitPattern) }

    package func double(_ field: Int, _ value: Double) -> Self { fixed64(field, value.bitPattern) }

    package func data(_ field: Int, _ value: [UInt8]) -> Self {
        adding(Self.varint(UInt64(field) << 3 | 2) + Self.varint(UInt64(value.count)), value)
    }

    package func text(_ field: Int, _ value: String) -> Self { data(field, Array(value.utf8)) }

    package func message(_ field: Int, _ value: WireMessage) -> Self { data(field, value.bytes) }

    package func group(_ field: Int, _ value: WireMessage) -> Self {
        adding(Self.varint(UInt64(field) << 3 | 3) + value.bytes, Self.varint(UInt64(field) << 3 | 4))
    }

    package static func varint(_ value: UInt64) -> [UInt8] {
        value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7F) | 0x80] + varint(value >> 7)
    }

    private func adding(_ tag: [UInt8], _ value: [UInt8]) -> Self {
        var message = self
        message.bytes += tag + value
        return message
    }
}

/// The parts of a descriptor set (descriptor.proto).
extension WireMessage {
    /// - Parameter type: its number in `FieldDescriptorProto.Type`; 11 is a message, 14 an enumeration.
    package static func field(
        _ name: String, _ number: Int, _ type: Int, of typeName: String = "", isRepeated: Bool = false
    ) -> Self {
        let field = WireMessage().text(1, name).number(3, number).number(4, isRepeated ? 3 : 1).number(5, type)
        return typeName.isEmpty ? field : field.text(6, typeName)
    }

    package static func type(_ name: String, _ fields: [WireMessage]) -> Self {
        fields.reduce(WireMessage().text(1, name)) { $0.message(2, $1) }
    }

    package static func enumeration(_ name: String, _ values: [(String, Int)]) -> Self {
        values.reduce(WireMessage().text(1, name)) { $0.message(2, WireMessage().text(1, $1.0).number(2, $1.1)) }
    }

    /// A set of one file.
    package static func descriptorSet(
        package name: String, _ types: [WireMessage], enumerations: [WireMessage] = [], extensions: [WireMessage] = []
    ) -> Self {
        var file = types.reduce(WireMessage().text(1, "test.proto").text(2, name)) { $0.message(4, $1) }
        for enumeration in enumerations { file = file.message(5, enumeration) }
        for field in extensions { file = file.message(7, field) }
        return WireMessage().message(1, file)
    }

    /// A set with `shop.Feed`, whose `item` repeats a `shop.Item` with `sku`. All of its bytes are ASCII.
    package static let shop = descriptorSet(
        package: "shop",
        [
            .type("Feed", [.field("item", 1, 11, of: ".shop.Item", isRepeated: true)]),
            .type("Item", [.field("sku", 1, 9)]),
        ])
}
