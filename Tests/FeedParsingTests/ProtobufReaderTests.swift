import FeedModel
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
import XMLStream

@testable import FeedConfiguration
@testable import FeedParsing
@testable import TributaryEngine

/// A message in Protocol Buffers is told as elements; see ``ProtobufReader``.
@Suite struct ProtobufReaderTests {
    private final class MarkupRecorder: XMLStreamHandler {
        var markup = ""
        var lines: [Int] = []

        override func didStartElement(in stream: XMLStreamParser) {
            markup += "<\(stream.name.qualified)>"
            lines.append(stream.line)
        }

        override func didEndElement(in stream: XMLStreamParser) {
            markup += String(decoding: stream.textBytes, as: UTF8.self) + "</\(stream.name.qualified)>"
        }
    }

    /// The numbers of the types are those of `FieldDescriptorProto.Type`.
    private static let descriptorSet = WireMessage.descriptorSet(
        package: "test",
        [
            .type(
                "All",
                [
                    .field("double", 1, 1), .field("float", 2, 2), .field("int64", 3, 3), .field("uint64", 4, 4),
                    .field("int32", 5, 5), .field("fixed64", 6, 6), .field("fixed32", 7, 7), .field("bool", 8, 8),
                    .field("string", 9, 9), .field("group", 10, 10, of: ".test.All"),
                    .field("message", 11, 11, of: ".test.All"), .field("bytes", 12, 12), .field("uint32", 13, 13),
                    .field("colour", 14, 14, of: ".test.Colour"), .field("sfixed32", 15, 15),
                    .field("sfixed64", 16, 16), .field("sint32", 17, 17), .field("sint64", 18, 18),
                    .field("n", 20, 5, isRepeated: true), .field("x", 21, 1, isRepeated: true),
                    .field("colours", 22, 14, of: ".test.Colour", isRepeated: true),
                    .field("names", 23, 9, isRepeated: true), .field("f", 24, 7, isRepeated: true),
                    .field("map", 25, 11, of: ".test.All.MapEntry", isRepeated: true),
                ]
            ).message(3, .type("MapEntry", [.field("key", 1, 9), .field("value", 2, 5)]))
                .message(6, WireMessage.field("inner", 101, 9).text(2, ".test.All"))
        ], enumerations: [.enumeration("Colour", [("RED", 0), ("GREEN", 1), ("LIME", 1), ("OFF", -1)])],
        extensions: [WireMessage.field("int32", 100, 5).text(2, ".test.All")])

    private static func schema() throws -> ProtobufSchema {
        var schema = try ProtobufSchema(descriptorSet: descriptorSet.bytes)
        schema.message = "test.All"
        return schema
    }

    private static func reader(_ recorder: XMLStreamHandler, _ schema: ProtobufSchema?) throws -> BodyReader {
        let response = FeedResponse(
            requestedURL: "", url: "", status: 200, headers: [("Content-Type", "application/octet-stream")],
            fetchedAt: Date(timeIntervalSince1970: 0), validators: Validators())
        var dialect = BodyDialect(format: schema == nil ? .gtfsRealtime : .protobuf)
        dialect.protobuf = schema
        return try BodyReader(response, [recorder], limit: 1 << 28, dialect: dialect)
    }

    /// What is told of a body that is handed over in these pieces.
    private func record(_ pieces: [some Sequence<UInt8>], _ schema: ProtobufSchema?) throws -> MarkupRecorder {
        let recorder = MarkupRecorder()
        let reader = try Self.reader(recorder, schema)
        for piece in pieces { try Array(piece).withUnsafeBytes { try reader.read($0) } }
        try reader.finish()
        return recorder
    }

    /// The content of the document, which is the same whole and byte by byte.
    private func content(_ message: WireMessage) throws -> String {
        let schema = try Self.schema()
        let whole = try record([message.bytes], schema).markup
        #expect(try record(message.bytes.map { [$0] }, schema).markup == whole)
        return String(whole.trimmingPrefix("<protobuf>").dropLast("</protobuf>".count))
    }

    /// The error for a body, which is the same whole and byte by byte.
    private func refusal(_ bytes: [UInt8], _ schema: ProtobufSchema?) -> String {
        let errors = [[bytes], bytes.map { [$0] }].map { pieces in
            do { return "no error, but " + (try record(pieces, schema).markup) } catch { return "\(error)" }
        }
        #expect(errors[0] == errors[1])
        return errors[0]
    }

    // MARK: - Values

    private static let values: [(message: WireMessage, told: String)] = [
        (WireMessage().double(1, 0.1), "<double>0.1</double>"),
        (WireMessage().double(1, 90).double(1, 1.5e300), "<double>90</double><double>1.5e+300</double>"),
        (WireMessage().double(1, -.infinity).double(1, .nan), "<double>-INF</double><double>NaN</double>"),
        (WireMessage().float(2, 52.5227).float(2, 0.1), "<float>52.5227</float><float>0.1</float>"),
        (WireMessage().number(3, .min), "<int64>-9223372036854775808</int64>"),
        (WireMessage().varint(4, .max), "<uint64>18446744073709551615</uint64>"),
        (WireMessage().number(5, -5).varint(5, 1 << 32 | 7), "<int32>-5</int32><int32>7</int32>"),
        (WireMessage().fixed64(6, .max), "<fixed64>18446744073709551615</fixed64>"),
        (WireMessage().fixed32(7, .max), "<fixed32>4294967295</fixed32>"),
        (WireMessage().varint(8, 0).varint(8, 2), "<bool>false</bool><bool>true</bool>"),
        (WireMessage().text(9, "").text(9, "Straße\n"), "<string></string><string>Straße\n</string>"),
        // What XML cannot hold is replaced, as in JSON.
        (WireMessage().text(9, "a\u{1}b\u{FFFF}c\u{0}"), "<string>a\u{FFFD}b\u{FFFD}c\u{FFFD}</string>"),
        (
            WireMessage().group(10, WireMessage().text(9, "g").group(10, WireMessage())),
            "<group><string>g</string><group></group></group>"
        ),
        (
            WireMessage().message(11, WireMessage().message(11, WireMessage()).number(5, 1)),
            "<message><message></message><int32>1</int32></message>"
        ),
        // Editions may write a message as a group.
        (WireMessage().group(11, WireMessage().number(5, 1)), "<message><int32>1</int32></message>"),
        (WireMessage().data(12, [0, 0xFF, 1]).data(12, []), "<bytes>AP8B</bytes><bytes></bytes>"),
        (WireMessage().varint(13, 1 << 32 - 1), "<uint32>4294967295</uint32>"),
        (
            WireMessage().number(14, 1).number(14, -1).number(14, 9),
            "<colour>GREEN</colour><colour>OFF</colour><colour>9</colour>"
        ),
        (WireMessage().fixed32(15, .max), "<sfixed32>-1</sfixed32>"),
        (WireMessage().fixed64(16, .max - 1), "<sfixed64>-2</sfixed64>"),
        (WireMessage().varint(17, 1 << 32 - 1).varint(17, 2), "<sint32>-2147483648</sint32><sint32>1</sint32>"),
        (WireMessage().varint(18, .max), "<sint64>-9223372036854775808</sint64>"),
        // Repeated values, packed and not.
        (WireMessage().number(20, 1).number(20, -2), "<n>1</n><n>-2</n>"),
        (
            WireMessage().data(20, [1] + WireMessage.varint(300)).data(20, []).number(20, 4),
            "<n>1</n><n>300</n><n>4</n>"
        ),
        (WireMessage().data(21, [0, 0, 0, 0, 0, 0, 0xF0, 0x3F] + Array(repeating: 0, count: 8)), "<x>1</x><x>0</x>"),
        (WireMessage().data(22, [1, 0]), "<colours>GREEN</colours><colours>RED</colours>"),
        (WireMessage().data(24, [1, 0, 0, 0, 2, 0, 0, 0]), "<f>1</f><f>2</f>"),
        (WireMessage().text(23, "a").text(23, "b"), "<names>a</names><names>b</names>"),
        (
            WireMessage().message(25, WireMessage().text(1, "k").number(2, 1)).message(25, WireMessage().text(1, "z")),
            "<map><key>k</key><value>1</value></map><map><key>z</key></map>"
        ),
        // Fields that the schema lacks, groups within groups included, are skipped.
        (
            WireMessage().number(50, 1).fixed32(51, 1).fixed64(52, 1).text(53, "skip").text(53, "")
                .group(54, WireMessage().number(5, 1).group(55, WireMessage().text(9, "no"))).number(5, 2),
            "<int32>2</int32>"
        ),
        // The element of an extension has its full name.
        (
            WireMessage().number(100, 3).text(101, "in"),
            "<test.int32>3</test.int32><test.All.inner>in</test.All.inner>"
        ),
        (WireMessage(), ""),
    ]

    @Test(arguments: values.indices) func aValueBecomesText(_ index: Int) throws {
        let (message, told) = Self.values[index]
        #expect(try content(message) == told)
    }

    // MARK: - Malformed bodies

    private static let text = WireMessage().text(9, "abc").bytes
    private static let faults: [(bytes: [UInt8], error: String)] = [
        ([0x28], "byte 1, in int32: the body ends within a field; it was probably cut off"),
        ([0x28, 0xFF], "byte 2, in int32: the body ends within a field; it was probably cut off"),
        ([0xA8], "byte 1: the body ends within a field; it was probably cut off"),
        (Array(text.dropLast()), "byte 4, in string: the body ends within a field; it was probably cut off"),
        ([0x5A, 5], "byte 2, in message: the body ends within a field; it was probably cut off"),
        ([0x53, 0x28, 1], "byte 3, in group: the body ends within a field; it was probably cut off"),
        ([0x28] + Array(repeating: 0xFF, count: 10), "byte 1, in int32: a varint has more than 64 bits"),
        ([0x28] + Array(repeating: 0x80, count: 9) + [2], "byte 1, in int32: a varint has more than 64 bits"),
        ([0x00, 0], "byte 0: 0 is no number of a field"),
        ([0x80, 0x80, 0x80, 0x80, 0x10, 0], "byte 0: 536870912 is no number of a field"),
        ([0x2E, 0], "byte 0: the field 5 has the wire type 6, which does not exist"),
        ([0x2D, 0, 0, 0, 0], "byte 0, in int32: the field has the wire type 5, not 0"),
        ([0x2A, 1, 1], "byte 0, in int32: the field has the wire type 2, not 0"),
        ([0x48, 1], "byte 0, in string: the field has the wire type 0, not 2"),
        ([0x4B, 0x4C], "byte 0, in string: the field has the wire type 3, not 2"),
        ([0x54], "byte 0: the group 10 ends here, but has not begun"),
        ([0x53, 0x5C], "byte 1, in group: the group 11 ends here, but has not begun"),
        ([0x5A, 2, 0x5A, 1], "byte 3, in message/message: the length 1 leads beyond the end of the message"),
        ([0x5A, 2, 0x4A, 9], "byte 3, in message/string: the length 9 leads beyond the end of the message"),
        (
            [0x5A, 1, 0x28, 1],
            "byte 3, in message/int32: a number continues behind the end of the message or of the list"
        ),
        (
            [0x5A, 2, 0x53, 0x28, 1],
            "byte 4, in message/group/int32: a number continues behind the end of the message or of the list"
        ),
        ([0x5A, 1, 0x53], "byte 3, in message/group: the message ends within a group"),
        ([0xA2, 1, 1, 0x80], "byte 4, in n: the body ends within a field; it was probably cut off"),
        (
            [0xA2, 1, 1, 0x80, 1],
            "byte 3, in n: a number continues behind the end of the message or of the list"
        ),
        (WireMessage().data(9, [0xC3, 0x28]).bytes, "byte 1, in string: a text is not valid UTF-8"),
        ([0x4A, 0x80, 0x80, 0x80, 0x09], "byte 1, in string: a text is longer than 16777216 bytes"),
    ]

    @Test(arguments: faults.indices) func aFaultIsToldWithItsPlace(_ index: Int) throws {
        let (bytes, error) = Self.faults[index]
        let schema = try Self.schema()
        #expect(refusal(bytes, schema).replacing(" of the Protobuf body", with: "") == error)
    }

    /// A length is as large as a number may be, and leads to no addition that overflows.
    @Test func aLengthMayBeAnyNumber() throws {
        let most = WireMessage.varint(.max)
        let schema = try Self.schema()
        #expect(refusal([0x5A] + most, schema).contains("the length 18446744073709551615 leads beyond the end"))
        #expect(refusal([0x5A, 20, 0x5A] + most, schema).contains("the length 18446744073709551615 leads beyond"))
    }

    @Test func messagesMayBeNestedToALimit() throws {
        func nested(_ depth: Int) -> [UInt8] {
            (0..<depth).reduce(WireMessage()) { inner, _ in WireMessage().message(11, inner) }.bytes
        }
        let schema = try Self.schema()
        #expect(refusal(nested(512), schema).hasPrefix("no error"))
        #expect(refusal(nested(513), schema).hasSuffix("messages are nested more than 512 deep"))
        // Unknown groups count, too.
        let groups = Array(repeating: [UInt8]([0xCB, 3]), count: 600).flatMap(\.self)
        #expect(refusal(groups, schema).hasSuffix("messages are nested more than 512 deep"))
    }

    @Test func anErrorPageIsRecognised() {
        let page = Array("\n<!DOCTYPE html><html><body>Sorry</body></html>".utf8)
        #expect(throws: XMLStreamError.self) { try record([page], nil) }
    }

    // MARK: - Streaming

    /// A message is told while it arrives, however long it is; so are the numbers of a list.
    @Test func aMessageIsNotCollected() throws {
        let recorder = MarkupRecorder()
        let reader = try Self.reader(recorder, Self.schema())
        let body = WireMessage().message(11, WireMessage().text(9, "a").data(20, [1, 2, 3]).text(9, "b")).bytes
        try Array(body.prefix(9)).withUnsafeBytes { try reader.read($0) }
        #expect(recorder.markup == "<protobuf><message><string>a</string><n>1</n>")
    }

    // MARK: - Descriptor sets

    private static let badSets: [(bytes: [UInt8], error: String)] = [
        (
            Array("syntax = \"proto3\";".utf8),
            "is no descriptor set: byte 12: the field 13 has the wire type 7, which does not exist; write one with protoc "
                + "--include_imports --descriptor_set_out=FILE"
        ),
        (
            [0x0A, 0xFF],
            "is no descriptor set: byte 2, in file: the body ends within a field; it was probably cut off; write one with "
                + "protoc --include_imports --descriptor_set_out=FILE"
        ),
        (
            WireMessage.descriptorSet(package: "", [.type("A", [.field("b", 1, 11, of: ".other.B")])]).bytes,
            "does not define 'other.B', the type of the field 'b'; write the file with protoc --include_imports"
        ),
        (
            WireMessage.descriptorSet(package: "a", [.type("A", [.field("b", 1, 0)])]).bytes,
            "does not define '', the type of the field 'b'; write the file with protoc --include_imports"
        ),
    ]

    @Test(arguments: badSets.indices) func aBadDescriptorSetIsRefused(_ index: Int) {
        let (bytes, expected) = Self.badSets[index]
        let error = #expect(throws: Finding.self) { try ProtobufSchema(descriptorSet: bytes) }
        #expect(error?.description == expected)
    }

    @Test func aFormatNeedsItsSchema() async throws {
        let tables = "tables = [{ table = \"price\", element = \"item\", columns = { sku = \"sku\" } }]"
        try await EngineFixture.expectMistake(
            "[[sources.s.requests]]\nurl = \"URL/feed\"\nformat = \"protobuf\"\n\(tables)",
            "format: requires 'protobuf', the schema of the body")
    }

    // MARK: - GTFS Realtime

    private static let feed = WireMessage()
        .message(1, WireMessage().text(1, "2.0").varint(2, 0).varint(3, 1_790_000_000))
        .message(
            2,
            WireMessage().text(1, "v1").message(
                4,
                WireMessage().message(1, WireMessage().text(1, "t1").text(5, "M4"))
                    .message(2, WireMessage().float(1, 52.5227).float(2, 13.4021).float(3, 90)).varint(4, 1)
                    .varint(5, 1_790_000_001))
        )
        .message(
            2,
            WireMessage().text(1, "u1").message(
                3,
                WireMessage().message(1, WireMessage().text(1, "t1").varint(4, 3))
                    .message(2, WireMessage().varint(1, 1).message(2, WireMessage().number(1, -30)).text(4, "a"))
                    .message(
                        2, WireMessage().varint(1, 2).message(3, WireMessage().varint(2, 1_790_000_060)).text(4, "b")
                    )
                    // An extension of a vendor.
                    .message(1_001, WireMessage().text(1, "train")))
        )
        .message(
            2,
            WireMessage().text(1, "a1").message(
                5,
                WireMessage().message(1, WireMessage().varint(1, 10).varint(2, 20))
                    .message(5, WireMessage().text(2, "M4")).varint(6, 9).varint(7, 4)
                    .message(10, WireMessage().message(1, WireMessage().text(1, "Umleitung").text(2, "de"))))
        ).bytes

    private static let told = """
        <protobuf><header><gtfs_realtime_version>2.0</gtfs_realtime_version><incrementality>FULL_DATASET</incrementality>\
        <timestamp>1790000000</timestamp></header>\
        <entity><id>v1</id><vehicle><trip><trip_id>t1</trip_id><route_id>M4</route_id></trip>\
        <position><latitude>52.5227</latitude><longitude>13.4021</longitude><bearing>90</bearing></position>\
        <current_status>STOPPED_AT</current_status><timestamp>1790000001</timestamp></vehicle></entity>\
        <entity><id>u1</id><trip_update><trip><trip_id>t1</trip_id><schedule_relationship>CANCELED</schedule_relationship>\
        </trip><stop_time_update><stop_sequence>1</stop_sequence><arrival><delay>-30</delay></arrival><stop_id>a</stop_id>\
        </stop_time_update><stop_time_update><stop_sequence>2</stop_sequence><departure><time>1790000060</time></departure>\
        <stop_id>b</stop_id></stop_time_update></trip_update></entity>\
        <entity><id>a1</id><alert><active_period><start>10</start><end>20</end></active_period>\
        <informed_entity><route_id>M4</route_id></informed_entity><cause>MAINTENANCE</cause><effect>DETOUR</effect>\
        <header_text><translation><text>Umleitung</text><language>de</language></translation></header_text></alert></entity>\
        </protobuf>
        """

    /// The pieces of a body may end anywhere.
    @Test func aFeedMayBeCutAnywhere() throws {
        let whole = try record([Self.feed], nil)
        #expect(whole.markup == Self.told)
        // The place of a record is the number of the field that it is.
        #expect(Set(whole.lines) == [1, 2, 3, 4])
        for place in Self.feed.indices {
            #expect(try record([Self.feed[..<place], Self.feed[place...]], nil).markup == Self.told, "at \(place)")
        }
        for size in [1, 2, 3, 7, 64] {
            let pieces = stride(from: 0, to: Self.feed.count, by: size).map { Self.feed[$0...].prefix(size) }
            #expect(try record(pieces, nil).markup == Self.told, "pieces of \(size)")
        }
    }

    /// A cut within the feed is told, unless it is between two fields of the outermost message.
    @Test func aCutIsToldWhereTheBytesShowIt() throws {
        var ends: [Int] = []
        for place in Self.feed.indices where !refusal(Array(Self.feed[..<place]), nil).contains("cut off") {
            ends.append(place)
        }
        #expect(ends.count == 4, "\(ends)")
    }

    @Test func anUndeclaredFeedIsNamed() throws {
        let response = FeedResponse(
            requestedURL: "", url: "", status: 200, headers: [("Content-Type", "application/x-protobuf")],
            fetchedAt: Date(timeIntervalSince1970: 0), validators: Validators())
        let reader = try BodyReader(response, [], limit: 1 << 20)
        let error = #expect(throws: DocumentError.self) {
            try Self.feed.withUnsafeBytes { try reader.read($0) }
            try reader.finish()
        }
        #expect(error?.description.contains("set format = \"gtfs-realtime\"") == true)
    }

    /// Mappings, types and nested tables are those of other formats, on both stores.
    @Test(.onEachStore) func aFeedBecomesRows() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.route("/feed.pb") { _ in
                StubServer.response(200, Self.feed, ["Content-Type": "application/x-protobuf"])
            }
            let reports = try await fixture.sync(
                """
                [[sources.s.requests]]
                url = "URL/feed.pb"
                format = "gtfs-realtime"
                sync = "mirror"
                [[sources.s.requests.tables]]
                table = "vehicle"
                element = "entity/vehicle"
                key = ["id"]
                columns = { id = "../id", lat = { path = "position/latitude", type = "real" }, status = "current_status", speed = { path = "position/speed", type = "real" } }
                [[sources.s.requests.tables]]
                table = "delay"
                element = "entity/trip_update/stop_time_update"
                key = ["trip", "stop"]
                columns = { trip = "../trip/trip_id", stop = "stop_id", seconds = { path = "arrival/delay", type = "integer" } }
                """)
            #expect(reports.first?.error == nil, "\(reports)")
            #expect(try fixture.rows("SELECT id, lat, status, speed FROM vehicle") == ["v1|52.5227|STOPPED_AT|NULL"])
            #expect(
                try fixture.rows("SELECT trip, stop, seconds FROM delay ORDER BY stop") == ["t1|a|-30", "t1|b|NULL"])
        }
    }

    /// Another descriptor set reads other rows from the same bytes, so an unchanged body is parsed again.
    @Test func aNewDescriptorSetReadsTheBodyAgain() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let body = WireMessage().message(1, WireMessage().text(1, "a").text(2, "Tea")).bytes
            fixture.server.route("/feed") { _ in StubServer.response(200, body) }
            let sources = """
                [[sources.s.requests]]
                url = "URL/feed"
                protobuf = { descriptor = "shop.desc", message = "shop.Feed" }
                tables = [{ table = "price", element = "item", key = ["sku"], columns = { sku = "sku", name = "name" } }]
                """
            let file = URL(fileURLWithPath: fixture.folder.file("shop.desc"))
            try Data(WireMessage.shop.bytes).write(to: file)
            #expect(try await fixture.sync(sources).first?.error == nil)
            #expect(try fixture.rows("SELECT sku, name FROM price") == ["a|NULL"])
            let wider = WireMessage.descriptorSet(
                package: "shop",
                [
                    .type("Feed", [.field("item", 1, 11, of: ".shop.Item", isRepeated: true)]),
                    .type("Item", [.field("sku", 1, 9), .field("name", 2, 9)]),
                ])
            try Data(wider.bytes).write(to: file)
            #expect(try await fixture.sync(sources).first?.error == nil)
            #expect(try fixture.rows("SELECT sku, name FROM price") == ["a|Tea"])
        }
    }
}
