import FeedConfiguration
import FeedModel
import Testing
import XMLStream
@testable import FeedParsing

/// Several handlers of one document: each receives what it would receive alone.
@Suite struct HandlerListTests {
    /// Writes down what several handlers receive, in the order of the calls.
    private final class Log {
        var lines: [String] = []
    }

    private final class Recorder: XMLStreamHandler {
        private let name: String
        private let log: Log

        init(_ name: String, _ log: Log) {
            self.name = name
            self.log = log
        }

        override func didReadHeader(_ columns: [String]) { add(columns.joined(separator: ",")) }
        override func didStartElement(in stream: XMLStreamParser) { add("<\(stream.localName)>") }
        override func didEndElement(in stream: XMLStreamParser) { add("</\(stream.localName)>") }
        override func didEndDocument() { add("end") }

        private func add(_ event: String) { log.lines.append("\(name) \(event)") }
    }

    @Test func eachReceivesEveryEvent() throws {
        let log = Log()
        let handler = XMLHandlerList.joining([Recorder("1", log), Recorder("2", log)])
        let stream = XMLStreamParser(handler: handler)
        try withExtendedLifetime(handler) {
            let reader = try CSVReader(stream, CSVDialect())
            try Array("a,b\n1,2\n".utf8).withUnsafeBytes { try reader.read($0) }
            try reader.finish()
            try stream.finish()
        }
        let events = ["<csv>", "a,b", "<row>", "<a>", "</a>", "<b>", "</b>", "</row>", "</csv>", "end"]
        #expect(log.lines == events.flatMap { ["1 \($0)", "2 \($0)"] })
    }

    private static let document = "<a>\n <b>\n  <c>x</c></b>\n <d>y</d></a>"

    private func values(_ lists: [[String]]) throws -> [[Int: String]] {
        let captures = try lists.map { CaptureHandler(try $0.map { try XMLPathParser.parse($0) }) }
        let handler = XMLHandlerList.joining(captures)
        let stream = XMLStreamParser(handler: handler)
        try withExtendedLifetime(handler) {
            try Array(Self.document.utf8).withUnsafeBytes { try stream.parse($0) }
            try stream.finish()
        }
        return captures.map(\.values)
    }

    /// White space within a whole text is kept, whoever else takes a part of it.
    @Test func wholeTextsOverlap() throws {
        let (outer, inner) = (["string(/a)"], ["string(/a/b)", "/a/d"])
        let (whole, part) = ([0: "x\n y"], [0: "x", 1: "y"])
        #expect(try values([outer]) == [whole])
        #expect(try values([inner]) == [part])
        #expect(try values([outer, inner]) == [whole, part])
        #expect(try values([inner, outer]) == [part, whole])
    }
}
