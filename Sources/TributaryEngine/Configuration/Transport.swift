/// How connections to a server are made.
public struct Transport: Sendable, Hashable {
    /// Certificates and keys, each a PEM file.
    struct TLS: Sendable, Hashable {
        /// Certificates to trust besides the system's.
        var trustedCertificates: String?
        /// The certificate chain by which the client shows who it is, and its key.
        var certificates: String?
        var key: String?
        var keyPassword: InterpolatedText?
        /// Of what is in the files: a renewed certificate is another one.
        var fingerprint: String
    }

    struct Proxy: Sendable, Hashable {
        enum Kind: String, Sendable {
            case http, socks5
        }

        var kind: Kind
        var host: String
        var port: Int
        var user: InterpolatedText?
        var password: InterpolatedText?
    }

    public internal(set) var connectTimeout: Duration
    var tls: TLS?
    var proxy: Proxy?

    /// Changes when anything in it does.
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
        return parts.joined(separator: "\u{1}")
    }
}
