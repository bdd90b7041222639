public import Foundation
import XMLStream

/// Decodes XML into values.
///
/// It keeps its knowledge of types for the next call, and copies share it. Any number of threads may use it at once. A
/// call throws ``XMLStreamError`` where the document is not well-formed, and ``XMLRecordError`` where it does not match
/// the types.
public struct XMLRecordDecoder: Sendable {
    /// The `userInfo` that types find in their decoder.
    public var userInfo: [CodingUserInfoKey: any Sendable] {
        didSet { sessions = DecodingSessionPool() }
    }

    private var sessions = DecodingSessionPool()

    public init(userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
        self.userInfo = userInfo
    }

    // MARK: - One value

    /// Decodes a document whose root element is the value. The root's name is not checked.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self, from xml: String) throws -> Value {
        try decode(type, charset: "UTF-8") { try xml.parse(by: $0) }
    }

    /// Decodes a document, such as `Data` or an array of bytes, in the encoding that it declares.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self, from bytes: some ContiguousBytes) throws
        -> Value
    {
        try decode(type, charset: nil) { stream in try bytes.withUnsafeBytes { try stream.parse($0) } }
    }

    // MARK: - All records of a document

    /// Decodes every element at a path, in document order, except those that the type does not accept.
    ///
    /// - Parameter element: a path: `food`, `menu/food` or `/menu/food`; nil for the type's own element.
    public func decodeAll<Record: XMLRecord>(
        _ type: Record.Type = Record.self, element: String? = nil, from xml: String
    ) throws -> [Record] {
        try decodeAll(type, element, charset: "UTF-8") { try xml.parse(by: $0) }
    }

    /// Decodes every element at a path, as from a string, in the encoding that the document declares.
    public func decodeAll<Record: XMLRecord>(
        _ type: Record.Type = Record.self, element: String? = nil, from bytes: some ContiguousBytes
    ) throws -> [Record] {
        try decodeAll(type, element, charset: nil) { stream in try bytes.withUnsafeBytes { try stream.parse($0) } }
    }

    // MARK: -

    private func decode<Value: Decodable>(
        _ type: Value.Type, charset: String?, _ parse: (XMLStreamParser) throws -> Void
    ) throws -> Value {
        try sessions.withSession(userInfo) { session in
            let values = try collect(type, at: nil, in: session, charset: charset, parse)
            guard let value = values.first else {
                throw EndedRecord(session: session).refusal("is not accepted by \(type)")
            }
            return value
        }
    }

    private func decodeAll<Record: XMLRecord>(
        _ type: Record.Type, _ element: String?, charset: String?, _ parse: (XMLStreamParser) throws -> Void
    ) throws -> [Record] {
        try sessions.withSession(userInfo) { session in
            try collect(
                type, at: RecordPath(element ?? type.xmlElement, namespaces: type.xmlNamespaces), in: session,
                charset: charset, parse)
        }
    }

    private func collect<Value: Decodable>(
        _ type: Value.Type, at path: RecordPath?, in session: DecodingSession, charset: String?,
        _ parse: (XMLStreamParser) throws -> Void
    ) throws -> [Value] {
        let record = type as? any XMLRecord.Type
        var values: [Value] = []
        let handler = RecordTreeHandler(path: path, session: session) { ended in
            if let record, !record.accepts(ended.element(for: record)) { return }
            values.append(try ended.decode(type))
        }
        try withExtendedLifetime(handler) {
            let stream = XMLStreamParser(charset: charset, handler: handler)
            try parse(stream)
            try stream.finish()
        }
        return values
    }
}

extension String {
    fileprivate func parse(by stream: XMLStreamParser) throws {
        var text = self
        try text.withUTF8 { try stream.parse(UnsafeRawBufferPointer($0)) }
    }
}
