import FeedConfiguration
package import FeedModel
package import XMLStream

/// Removes the envelope from a SOAP message: the content of its Body is the document. A Fault is thrown as an error.
///
/// SOAP 1.1, sections 4 and 4.4; SOAP 1.2 Part 1, sections 5 and 5.4.
final class SOAPEnvelope: XMLStreamHandler {
    /// The number of elements around the content of a Body.
    private static let depth = 2

    /// The document's own handler.
    private var inner: Unmanaged<XMLStreamHandler>?
    private var isInBody = false
    private var isInFault = false
    private var codes: [String] = []
    private var reason: String?

    /// Puts the envelope around the document of a stream.
    func open(in stream: XMLStreamParser) { inner = stream.enclose(by: self) }

    override func didStartElement(in stream: XMLStreamParser) throws {
        let name = stream.name
        switch stream.depth {
        case 1:
            guard name.local == "Envelope",
                SOAPDeclaration.Version.allCases.contains(where: { $0.namespace == name.namespace })
            else {
                throw DocumentError(
                    "the response is not a SOAP message: its root is <\(name.qualified)>, expected an Envelope")
            }
        case 2:
            isInBody = isOfEnvelope(stream) && name.local == "Body"
        default:
            guard isInBody, !isInFault else { return }
            if stream.depth == 3, name.local == "Fault", isOfEnvelope(stream) {
                isInFault = true
            } else {
                try stream.passOn(within: Self.depth) {
                    try inner?._withUnsafeGuaranteedRef { try $0.didStartElement(in: stream) }
                }
            }
        }
    }

    override func didEndElement(in stream: XMLStreamParser) throws {
        if isInFault {
            try takeFault(stream)
        } else if isInBody, stream.depth > Self.depth {
            try stream.passOn(within: Self.depth) {
                try inner?._withUnsafeGuaranteedRef { try $0.didEndElement(in: stream) }
            }
        }
    }

    override func didEndDocument() throws { try inner?._withUnsafeGuaranteedRef { try $0.didEndDocument() } }

    private func isOfEnvelope(_ stream: XMLStreamParser) -> Bool {
        stream.name.namespace == stream.name(atDepth: 1).namespace
    }

    private func takeFault(_ stream: XMLStreamParser) throws {
        let path = (4..<stream.depth + 1).map { stream.name(atDepth: $0).local }
        let text = String(decoding: trimmed(stream.textBytes), as: UTF8.self)
        switch path.joined(separator: "/") {
        case "":
            let code = codes.isEmpty ? "without a code" : codes.joined(separator: " / ")
            throw SOAPFault(
                description: "the server answered with a SOAP fault, \(code): \(reason ?? "no reason is given")")
        case "faultcode", "Code/Value", "Code/Subcode/Value", "Code/Subcode/Subcode/Value":
            // Kept whole, so that secrets are still found in it. The run's error is cut when it is stored.
            if codes.count < 4 { codes.append(text) }
        case "faultstring", "Reason/Text":
            // The first of several languages counts.
            if reason == nil { reason = text }
        default: break
        }
    }
}

/// A fault in the server's answer (SOAP 1.1, section 4.4; SOAP 1.2 Part 1, section 5.4).
package struct SOAPFault: Error, CustomStringConvertible {
    package var description: String
}

extension XMLStreamParser {
    /// Creates a parser for a response's body, with its charset, and its SOAP envelope where one is expected.
    package convenience init(_ response: FeedResponse, handler: XMLStreamHandler) {
        var limits = XMLLimits()
        limits.defaultLength = response.maxBody
        self.init(charset: response.charset, limits: limits, handler: handler)
        if response.isSOAP { SOAPEnvelope().open(in: self) }
    }
}
