package import FeedModel
import Foundation

/// The credentials by which a request proves who sends it.
public enum Authentication: Sendable, Hashable {
    /// User and password (RFC 7617). An `ftp:` server gets them unencrypted only where `cleartext` is true.
    case basic(user: InterpolatedText, password: InterpolatedText, cleartext: Bool = false)
    /// A fixed token (RFC 6750).
    case bearer(InterpolatedText)
    /// A token that a server issues (RFC 6749, sections 4.4 and 6).
    case oauth2(ClientCredentials)
    /// A user and the key by which SSH knows them (RFC 4252, section 7).
    case ssh(UserKey)
    /// A store of buckets, which gets signatures (AWS Signature Version 4) and no secret.
    case s3(BucketAccess)
}

extension Authentication {
    /// A text that identifies whose feed is requested. Secrets are left out, because they may be renewed.
    var identity: String {
        switch self {
        case .basic(let user, _, _): "basic \(user)"
        case .bearer(let token): "bearer \(token)"
        case .ssh(let key): "ssh \(key.user)"
        case .s3(let access): "s3 \(access.region) \(access.endpoint ?? "")"
        case .oauth2(let client):
            "oauth2 \(client.tokenURL) \(client.clientID) \(client.scope.map { "\($0)" } ?? "") "
                + client.parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
                + (client.login == nil ? "" : " refresh_token")
        }
    }

    /// The texts that are sent: those that anyone may see, and the secret ones.
    private var parts: (open: [InterpolatedText], secret: [InterpolatedText]) {
        switch self {
        case .basic(let user, let password, _): ([user], [password])
        case .ssh(let key): ([key.user], [key.passphrase].compactMap(\.self))
        case .bearer(let token): ([], [token])
        case .s3(let access): ([], access.texts)
        case .oauth2(let client):
            (
                [client.tokenURL, client.clientID] + [client.scope].compactMap(\.self) + client.parameters.values,
                [client.clientSecret] + [client.login?.firstToken].compactMap(\.self)
            )
        }
    }

    var texts: [InterpolatedText] { parts.open + parts.secret }

    var secrets: [String] { parts.secret.map(\.value) }

    /// The reason why it cannot be used; nil if it can.
    package var problem: Finding? {
        if texts.contains(where: \.isDynamic) {
            return Finding(
                "values of a response or a row are not allowed here", help: "use the header 'Authorization' instead")
        }
        if case .bearer(let token) = self, !token.value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
            return Finding("the token has characters that no header can hold, such as a line feed")
        }
        if case .s3(let access) = self, let keys = access.keys,
            let name = [("access_key", keys.accessKey), ("session_token", keys.sessionToken)].first(where: {
                $0.1?.value.utf8.allSatisfy { (0x21...0x7E).contains($0) } == false
            })?.0
        {
            return Finding("'\(name)' has characters that no header can hold, such as a line feed")
        }
        return nil
    }

    /// The store of `s3:` addresses; nil for other credentials.
    var bucketAccess: BucketAccess? { if case .s3(let access) = self { access } else { nil } }

    /// What names the server, without credentials; nil where nothing else is in them.
    package var withoutSecrets: Authentication? {
        guard var access = bucketAccess else { return nil }
        access.keys = nil
        return .s3(access)
    }
}

/// A user of SSH, and the files with their key.
public struct UserKey: Sendable, Hashable {
    package var user: InterpolatedText
    package var privateKey: String
    /// Nil where the private key's file has the public one, too.
    package var publicKey: String?
    package var passphrase: InterpolatedText?
}

/// A client of OAuth 2.0: with the client-credentials grant (RFC 6749, section 4.4), or with a login.
public struct ClientCredentials: Sendable, Hashable {
    /// The place of the client's identifier and secret (section 2.3.1).
    package enum Place: String, Sendable, CaseIterable {
        case header, body
    }

    /// The proof for which the server issues a token.
    package enum Grant: String, Sendable, CaseIterable {
        case clientCredentials = "client_credentials"
        case refreshToken = "refresh_token"
    }

    package var tokenURL: InterpolatedText
    package var clientID: InterpolatedText
    package var clientSecret: InterpolatedText
    package var scope: InterpolatedText?
    /// Further parameters of the token request, such as `audience`.
    package var parameters: [String: InterpolatedText]
    package var place: Place
    /// The login for whose refresh token the server issues tokens; nil for the client-credentials grant.
    package var login: Login?
}

extension ClientCredentials {
    /// The login of a user at a service, which a refresh token continues (RFC 6749, section 6).
    package struct Login: Sendable, Hashable {
        /// The declared refresh token. Later ones are kept in the store.
        package var firstToken: InterpolatedText
        /// The key that encrypts the kept one.
        package var key: EncryptionKey

        /// The advice for a refresh token that can no longer be used.
        package var renewal: String {
            let template = firstToken.template
            let place = template.contains("${") ? template : "'refresh_token'"
            return "log in to the service again, and put the new refresh token into \(place); it replaces the kept one"
        }
    }

    /// A text that identifies the login in the store; nil for the client-credentials grant. It is a digest of the token
    /// server and the client, keyed with the declared refresh token, so that another declared token is another login.
    package var loginID: String? {
        login.map { login in
            let subject = "\(tokenURL.value)\n\(clientID.value)"
            return HMAC.code(of: Data(subject.utf8), key: Data(login.firstToken.value.utf8)).hexadecimal
        }
    }
}

extension SourceDeclaration {
    /// True if a request has a login, whose refresh tokens are kept in the store.
    package var hasLogin: Bool {
        requests.contains { if case .oauth2(let client)? = $0.authentication { client.login != nil } else { false } }
    }
}
