package import XMLStream

/// Passes a body to two parsers.
package final class TeeBodyParser: BodyParser {
    private let first: any BodyParser
    private let second: any BodyParser

    package init(_ first: any BodyParser, _ second: any BodyParser) {
        self.first = first
        self.second = second
    }

    package var streams: [XMLStreamParser] { first.streams + second.streams }

    package func parse(_ bytes: UnsafeRawBufferPointer) throws {
        try first.parse(bytes)
        try second.parse(bytes)
    }

    package func begin(columns: [String]) throws {
        try first.begin(columns: columns)
        try second.begin(columns: columns)
    }

    package func finish() throws {
        try first.finish()
        try second.finish()
    }
}
