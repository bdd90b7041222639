/// How a request proves who sends it.
public enum Authentication: Sendable, Hashable {
    /// User and password (RFC 7617).
    case basic(user: InterpolatedText, password: InterpolatedText)
    /// A token that is known (RFC 6750).
    case bearer(InterpolatedText)
    /// A token that a server issues (RFC 6749, section 4.4).
    case oauth2(ClientCredentials)
}

/// The client-credentials grant of OAuth 2.0 (RFC 6749, section 4.4).
public struct ClientCredentials: Sendable, Hashable {
    /// Where the client's identifier and secret go (section 2.3.1).
    enum Place: String, Sendable, CaseIterable {
        case header, body
    }

    var tokenURL: InterpolatedText
    var clientID: InterpolatedText
    var clientSecret: InterpolatedText
    var scope: InterpolatedText?
    /// What a server asks for besides, such as `audience`.
    var parameters: [String: InterpolatedText]
    var place: Place
}
