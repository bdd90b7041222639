/// The settings of connections to a server.
public struct Transport: Sendable, Hashable {
    /// Certificates and keys, each a PEM file.
    package struct TLS: Sendable, Hashable {
        /// Certificates to trust in addition to the system's.
        package var trustedCertificates: String?
        /// The certificate chain that identifies the client, and its key.
        package var certificates: String?
        package var key: String?
        package var keyPassword: InterpolatedText?
        /// A fingerprint of the files' contents. It changes when a certificate is renewed.
        var fingerprint: String
    }

    package struct Proxy: Sendable, Hashable {
        package enum Kind: String, Sendable {
            case http, socks5
        }

        package var kind: Kind
        package var host: String
        package var port: Int
        package var user: InterpolatedText?
        package var password: InterpolatedText?
    }

    public package(set) var connectTimeout: Duration
    package var tls: TLS?
    package var proxy: Proxy?
    /// The file with the keys of the hosts that are known (sshd(8)).
    package var knownHosts: String?

    package init(connectTimeout: Duration) { self.connectTimeout = connectTimeout }

    /// A text that changes when any of the settings does.
    var identity: String {
        var parts = ["\(connectTimeout)"]
        if let tls {
            parts.append("tls")
            parts += [tls.trustedCertificates, tls.certificates, tls.key, tls.keyPassword?.value].map { $0 ?? "" }
            parts.append(tls.fingerprint)
        }
        if let proxy {
            parts.append("proxy")
            parts += [proxy.kind.rawValue, proxy.host, "\(proxy.port)", proxy.user?.value, proxy.password?.value].map {
                $0 ?? ""
            }
        }
        if let knownHosts { parts += ["known_hosts", knownHosts] }
        return parts.joined(separator: "\u{1}")
    }
}
