import FeedModel
import Foundation
import NIOSSL

/// Readers of `auth`, `tls` and `proxy`.
extension AuthenticationKeys: ValueGroup {
    func read(_ auth: DeclarationReader) -> Authentication? {
        guard auth.present(basic, bearer, oauth2, s3, ssh).count == 1,
            let authentication = auth[basic] ?? auth[oauth2] ?? auth[s3] ?? auth[ssh]
                ?? auth[bearer].map({ .bearer($0) })
        else { return nil }
        guard let problem = authentication.problem else { return authentication }
        auth.problems.report(auth.path, problem)
        return nil
    }
}

extension BasicKeys: ValueGroup {
    func read(_ basic: DeclarationReader) -> Authentication? {
        guard let user = basic[user], let password = basic[password] else { return nil }
        // An API key is often sent as a user without a password.
        if password.value.isEmpty { basic.hide(user.value) }
        if user.value.contains(":") {
            basic.report(self.user, "a user's name cannot have a colon (RFC 7617, section 2)")
        }
        return .basic(user: user, password: password, cleartext: basic.value(of: cleartext))
    }
}

extension BucketKeys: ValueGroup {
    func read(_ s3: DeclarationReader) -> Authentication? {
        var access = BucketAccess(region: s3.value(of: region))
        if let accessKey = s3[accessKey], let secretKey = s3[secretKey] {
            access.keys = .init(accessKey: accessKey, secretKey: secretKey, sessionToken: s3[sessionToken])
        }
        guard let text = s3[endpoint] else { return .s3(access) }
        access.endpoint = s3.address(text, endpoint.entry.name) { text in
            let url = try WebAddress(text).url
            guard url.query == nil, url.fragment == nil else { throw Finding("it has a '?' or '#' in it") }
            return url.absoluteString.hasSuffix("/") ? String(url.absoluteString.dropLast()) : url.absoluteString
        }
        return access.endpoint.map { _ in .s3(access) }
    }
}

extension UserKeyKeys: ValueGroup {
    func read(_ ssh: DeclarationReader) -> Authentication? {
        guard let user = ssh[user], let privateKey = ssh[privateKey] else { return nil }
        return .ssh(
            UserKey(user: user, privateKey: privateKey, publicKey: ssh[publicKey], passphrase: ssh[passphrase]))
    }
}

extension OAuthKeys: ValueGroup {
    func read(_ oauth2: DeclarationReader) -> Authentication? {
        let isLogin = oauth2.value(of: grant) == .refreshToken
        let login = isLogin ? login(oauth2) : nil
        guard let url = oauth2[tokenURL], let id = oauth2[clientID], let secret = oauth2[clientSecret],
            !isLogin || login != nil
        else { return nil }
        return .oauth2(
            ClientCredentials(
                tokenURL: url, clientID: id, clientSecret: secret, scope: oauth2[scope],
                parameters: oauth2[parameters] ?? [:], place: oauth2.value(of: credentialsIn), login: login))
    }

    private func login(_ oauth2: DeclarationReader) -> ClientCredentials.Login? {
        guard let key = oauth2.encryptionKey else {
            oauth2.report(
                grant, "needs 'encryption_key' in [store]: 32 bytes in hex",
                help: "the refresh tokens that the server issues are kept in the store, encrypted; "
                    + "`openssl rand -hex 32` makes a key")
            return nil
        }
        return oauth2[refreshToken].map { ClientCredentials.Login(firstToken: $0, key: key) }
    }
}

extension TLSKeys: ValueGroup {
    func read(_ tls: DeclarationReader) -> Transport.TLS? {
        let password = tls[keyPassword]
        let contents = [
            contents(of: ca, tls) { _ = try NIOSSLCertificate.fromPEMFile($0) },
            contents(of: certificate, tls) { _ = try NIOSSLCertificate.fromPEMFile($0) },
            contents(of: key, tls, otherwise: ", or 'key_password' is not its password") {
                _ = try NIOSSLPrivateKey(file: $0, format: .pem) { $0((password?.value ?? "").utf8) }
            },
        ]
        return Transport.TLS(
            trustedCertificates: tls[ca], certificates: tls[certificate], key: tls[key], keyPassword: password,
            fingerprint: Fingerprint.hexadecimal(contents.joined(separator: " ")))
    }

    /// Returns a file's contents, in base 64; an empty text for one that does not load, which is reported.
    private func contents(
        of key: Key<String>, _ tls: DeclarationReader, otherwise: String = "", _ load: (String) throws -> Void
    ) -> String {
        guard let path = tls[key] else { return "" }
        let bytes = tls.reporting(key) {
            // This refuses a pipe, for which `load` would wait.
            let bytes = try ConfigurationFile.read(named: path)
            do {
                try load(path)
            } catch {
                throw Finding("the file \(path) holds no usable PEM\(otherwise)")
            }
            return bytes
        }
        return bytes.map { Data($0).base64EncodedString() } ?? ""
    }
}

extension Transport.Proxy {
    /// Reads the address of a proxy; nil if it is none, which is reported.
    init?(_ text: InterpolatedText, _ name: String, _ table: DeclarationReader) {
        let help = "write \"http://host:3128\" or \"socks5://host:1080\""
        let url: URL
        do {
            url = try WebAddress(text.value, schemes: ["http", "socks5"], allowsUser: true).url
        } catch {
            table.report(name, "'\(text)' is not a proxy: \(error.text)", help: help)
            return nil
        }
        guard let components = URLComponents(url: url, resolvingAgainstBaseURL: true), let host = url.host,
            let kind = components.scheme.flatMap({ Kind(rawValue: $0.lowercased()) }),
            ["", "/"].contains(components.path)
        else {
            table.report(name, "'\(text)' is not a proxy", help: help)
            return nil
        }
        func secret(_ value: String?) -> InterpolatedText? { value.map { InterpolatedText(value: $0, template: "…") } }
        if kind == .socks5, components.user != nil {
            table.report(name, "user and password are sent to http: proxies only")
        }
        self.init(
            kind: kind, host: host, port: components.port ?? (kind == .http ? 3128 : 1080),
            user: secret(components.user), password: secret(components.password))
    }
}
