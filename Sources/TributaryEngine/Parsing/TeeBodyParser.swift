import XMLStream

/// Hands a body to two parsers.
final class TeeBodyParser: BodyParser {
    private let first: any BodyParser
    private let second: any BodyParser

    init(_ first: any BodyParser, _ second: any BodyParser) {
        self.first = first
        self.second = second
    }

    var streams: [XMLStreamParser] { first.streams + second.streams }

    func parse(_ bytes: UnsafeRawBufferPointer) throws {
        try first.parse(bytes)
        try second.parse(bytes)
    }

    func finish() throws {
        try first.finish()
        try second.finish()
    }
}
