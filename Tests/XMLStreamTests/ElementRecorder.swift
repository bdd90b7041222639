import XMLStream

/// Writes down what a parser tells: `<a x=1>`, `</a "text">`.
final class ElementRecorder: XMLStreamHandler {
    var events: [String] = []
    var paths: [String] = []

    override func didStartElement(in stream: XMLStreamParser) {
        let attributes = stream.attributesOfElement.all.map { " \($0.name.qualified)=\($0.value)" }.joined()
        events.append("<\(stream.name.qualified)\(attributes)>")
        paths.append(stream.path)
    }

    override func didEndElement(in stream: XMLStreamParser) {
        events.append("</\(stream.name.qualified) \"\(String(decoding: stream.textBytes, as: UTF8.self))\">")
    }

    /// Parses a document handed over in pieces of this many bytes.
    static func events(
        _ bytes: [UInt8], pieces: Int = .max, charset: String? = nil, limits: XMLLimits = XMLLimits()
    ) throws -> [String] {
        let recorder = ElementRecorder()
        let parser = XMLStreamParser(charset: charset, limits: limits, handler: recorder)
        var rest = bytes[...]
        while !rest.isEmpty {
            try Array(rest.prefix(pieces)).withUnsafeBytes { try parser.parse($0) }
            rest = rest.dropFirst(pieces)
        }
        try parser.finish()
        return recorder.events
    }

    static func events(_ text: String, pieces: Int = .max, limits: XMLLimits = XMLLimits()) throws -> [String] {
        try events(Array(text.utf8), pieces: pieces, limits: limits)
    }

    static func error(_ text: String) -> XMLStreamError? {
        do {
            _ = try events(text)
            return nil
        } catch {
            return error as? XMLStreamError
        }
    }
}
