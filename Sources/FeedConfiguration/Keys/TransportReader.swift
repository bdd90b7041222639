import FeedModel
import Foundation
import NIOSSL

/// Reads `auth`, `tls` and `proxy`.
enum TransportReader {
    static func authentication(_ auth: DeclarationReader) -> Authentication? {
        defer { auth.finish() }
        let keys = AuthenticationKeys.all
        let kinds = auth.present(keys.basic, keys.bearer, keys.oauth2, keys.s3, keys.ssh)
        let basic = auth.table(keys.basic)
        let bearer = auth[keys.bearer]
        let oauth2 = auth.table(keys.oauth2)
        let s3 = auth.table(keys.s3)
        let ssh = auth.table(keys.ssh)
        guard kinds.count == 1 else { return nil }
        if let basic {
            defer { basic.finish() }
            let user = basic[BasicKeys.all.user]
            let password = basic[BasicKeys.all.password]
            let cleartext = basic.value(of: BasicKeys.all.cleartext)
            guard let user, let password else { return nil }
            // An API key is often sent as a user without a password.
            if password.value.isEmpty { basic.hide(user.value) }
            if user.value.contains(":") {
                basic.report("user", "a user's name cannot have a colon (RFC 7617, section 2)")
            }
            return usable(.basic(user: user, password: password, cleartext: cleartext), auth)
        }
        if let bearer { return usable(.bearer(bearer), auth) }
        if let ssh { return userKey(ssh).flatMap { usable(.ssh($0), auth) } }
        if let s3 { return bucketAccess(s3).flatMap { usable(.s3($0), auth) } }
        return oauth2.flatMap(credentials).flatMap { usable(.oauth2($0), auth) }
    }

    private static func bucketAccess(_ s3: DeclarationReader) -> BucketAccess? {
        defer { s3.finish() }
        let keys = BucketKeys.all
        let (accessKey, secretKey, sessionToken) = (s3[keys.accessKey], s3[keys.secretKey], s3[keys.sessionToken])
        var access = BucketAccess(region: s3.value(of: keys.region))
        if let accessKey, let secretKey {
            access.keys = BucketAccess.Keys(accessKey: accessKey, secretKey: secretKey, sessionToken: sessionToken)
        }
        guard let endpoint = s3[keys.endpoint] else { return access }
        access.endpoint = s3.address(endpoint, keys.endpoint) { text in
            let url = try WebAddress(text).url
            guard url.query == nil, url.fragment == nil else { throw Finding("it has a '?' or '#' in it") }
            return url.absoluteString.hasSuffix("/") ? String(url.absoluteString.dropLast()) : url.absoluteString
        }
        return access.endpoint == nil ? nil : access
    }

    private static func userKey(_ ssh: DeclarationReader) -> UserKey? {
        defer { ssh.finish() }
        let keys = UserKeyKeys.all
        let publicKey = ssh[keys.publicKey]
        let passphrase = ssh[keys.passphrase]
        let user = ssh[keys.user]
        let privateKey = ssh[keys.privateKey]
        for (key, path) in [("private_key", privateKey), ("public_key", publicKey)] {
            _ = check(key, path, ssh) { _ in }
        }
        guard let user, let privateKey else { return nil }
        return UserKey(user: user, privateKey: privateKey, publicKey: publicKey, passphrase: passphrase)
    }

    private static func usable(_ authentication: Authentication, _ table: DeclarationReader) -> Authentication? {
        guard let problem = authentication.problem else { return authentication }
        table.problems.report(table.path, problem.text, help: problem.help)
        return nil
    }

    private static func credentials(_ oauth2: DeclarationReader) -> ClientCredentials? {
        defer { oauth2.finish() }
        let keys = OAuthKeys.all
        let scope = oauth2[keys.scope]
        let parameters = oauth2[keys.parameters] ?? [:]
        let place = oauth2.value(of: keys.credentialsIn)
        let url = oauth2[keys.tokenURL]
        let id = oauth2[keys.clientID]
        let secret = oauth2[keys.clientSecret]
        let isLogin = oauth2.value(of: keys.grant) == .refreshToken
        let login = isLogin ? login(oauth2) : nil
        guard let url, let id, let secret, !isLogin || login != nil,
            oauth2.address(url, keys.tokenURL, { text in try WebAddress(text) }) != nil
        else { return nil }
        return ClientCredentials(
            tokenURL: url, clientID: id, clientSecret: secret, scope: scope, parameters: parameters, place: place,
            login: login)
    }

    private static func login(_ oauth2: DeclarationReader) -> ClientCredentials.Login? {
        let keys = OAuthKeys.all
        if !oauth2.has(keys.refreshToken) {
            oauth2.problems.reportLacking(
                ["refresh_token"], at: oauth2.path, "'refresh_token' is missing",
                help: "give the one that the service issued at the login")
        }
        if oauth2.encryptionKey == nil {
            oauth2.report(
                keys.grant, "needs 'encryption_key' in [store]: 32 bytes in hex",
                help: "the refresh tokens that the server issues are kept in the store, encrypted; "
                    + "`openssl rand -hex 32` makes a key")
        }
        guard let token = oauth2[keys.refreshToken], let key = oauth2.encryptionKey else { return nil }
        if token.value.isEmpty { oauth2.report(keys.refreshToken, "is empty") }
        return ClientCredentials.Login(firstToken: token, key: key)
    }

    // MARK: - Connections

    static func tls(_ tls: DeclarationReader) -> Transport.TLS? {
        let keys = TLSKeys.all
        let trusted = tls[keys.ca]
        let certificates = tls[keys.certificate]
        let key = tls[keys.key]
        let password = tls[keys.keyPassword]
        tls.finish()
        let contents = [
            check("ca", trusted, tls) { _ = try NIOSSLCertificate.fromPEMFile($0) },
            check("certificate", certificates, tls) { _ = try NIOSSLCertificate.fromPEMFile($0) },
            check("key", key, tls) {
                _ = try NIOSSLPrivateKey(file: $0, format: .pem) { $0((password?.value ?? "").utf8) }
            },
        ]
        return Transport.TLS(
            trustedCertificates: trusted, certificates: certificates, key: key, keyPassword: password,
            fingerprint: Fingerprint.hexadecimal(contents.joined(separator: " ")))
    }

    /// - Returns: the file's contents, in base 64.
    private static func check(
        _ key: String, _ path: String?, _ table: DeclarationReader, _ load: (String) throws -> Void
    ) -> String {
        guard let path else { return "" }
        do {
            // This refuses a pipe, for which `load` would wait.
            let bytes = try ConfigurationFile.read(named: path)
            try load(path)
            return Data(bytes).base64EncodedString()
        } catch let error as Finding {
            table.report(key, "\(error)")
        } catch {
            let password = key == "key" ? ", or 'key_password' is not its password" : ""
            table.report(key, "the file \(path) holds no usable PEM\(password)")
        }
        return ""
    }

    static func proxy(_ text: InterpolatedText, _ name: String, _ table: DeclarationReader) -> Transport.Proxy? {
        let url: URL
        do {
            url = try WebAddress(text.value, schemes: ["http", "socks5"], allowsUser: true).url
        } catch {
            table.report(
                name,
                "'\(text)' is not a proxy: \(error.text)", help: "write \"http://host:3128\" or \"socks5://host:1080\"")
            return nil
        }
        guard let components = URLComponents(url: url, resolvingAgainstBaseURL: true), let host = url.host,
            let kind = components.scheme.flatMap({ Transport.Proxy.Kind(rawValue: $0.lowercased()) }),
            ["", "/"].contains(components.path)
        else {
            table.report(name, "'\(text)' is not a proxy", help: "write \"http://host:3128\" or \"socks5://host:1080\"")
            return nil
        }
        func secret(_ value: String?) -> InterpolatedText? { value.map { InterpolatedText(value: $0, template: "…") } }
        if kind == .socks5, components.user != nil {
            table.report(name, "user and password are sent to http: proxies only")
        }
        return Transport.Proxy(
            kind: kind, host: host, port: components.port ?? (kind == .http ? 3128 : 1080),
            user: secret(components.user), password: secret(components.password))
    }
}
