/// A call of a SOAP operation.
public struct SOAPDeclaration: Sendable, Hashable {
    public enum Version: String, Sendable, CaseIterable {
        case v1_1 = "1.1"
        case v1_2 = "1.2"

        /// The namespace of the envelope (SOAP 1.1, section 1.2; SOAP 1.2 Part 1, section 1.1).
        package var namespace: String {
            switch self {
            case .v1_1: "http://schemas.xmlsoap.org/soap/envelope/"
            case .v1_2: "http://www.w3.org/2003/05/soap-envelope"
            }
        }
    }

    var version: Version
    var action: InterpolatedText?
    /// The whole message.
    package var envelope: InterpolatedText

    var body: RequestBody { RequestBody(text: envelope, escaping: .xml) }

    /// The headers that the version requires (SOAP 1.1, section 6.1.1; SOAP 1.2 Part 2, section 7 and RFC 3902). The
    /// quotes are part of the action.
    var headers: [String: InterpolatedText] {
        var action = InterpolatedText("\"")
        action.append(self.action ?? InterpolatedText(""))
        action.append("\"")
        switch version {
        case .v1_1:
            return ["Content-Type": InterpolatedText("text/xml; charset=utf-8"), "SOAPAction": action]
        case .v1_2:
            var type = InterpolatedText("application/soap+xml; charset=utf-8")
            if self.action != nil {
                type.append("; action=")
                type.append(action)
            }
            return ["Content-Type": type]
        }
    }
}
