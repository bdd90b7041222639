import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Texts for errors of libraries, without the names of types.
package enum ErrorText {
    /// Returns the text for an error; its own description if it has one.
    package static func words(_ error: any Error) -> String {
        switch error {
        case let error as HTTPClientError: client(error)
        case let error as NIOConnectionError: connecting(error)
        case let error as FoundNames.UnknownName:
            "cannot connect to \(error.host):\(error.port): the host's name cannot be resolved"
        case is SocketAddressError.UnknownHost: "the host's name cannot be resolved"
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case ChannelError.connectTimeout: "no connection in time"
        case is ChannelError: "the connection was closed"
        case let error as HTTPParserError: "the response is cut short or is not HTTP (\(error))"
        case is NIOHTTPDecoderError: "a response came without a request"
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: tls(error)
        default: other(error)
        }
    }

    /// The text for a refused connection.
    static let connectionRefused =
        "connection refused; check that the server runs and listens at this address and port"

    /// Returns true if an address refused the connection, and no other address failed in another way.
    static func isRefused(_ error: any Error) -> Bool {
        switch error {
        case let error as IOError: error.errnoCode == ECONNREFUSED
        case let error as NIOConnectionError:
            !error.connectionErrors.isEmpty && error.connectionErrors.allSatisfy { isRefused($0.error) }
        default: false
        }
    }

    private static func connecting(_ error: NIOConnectionError) -> String {
        let place = "cannot connect to \(error.host):\(error.port): "
        // An error of a found address says more than a failed lookup.
        if let first = error.connectionErrors.first?.error { return place + words(first) }
        return place + ([error.dnsAError, error.dnsAAAAError].compactMap(\.self).first.map(words) ?? "unknown host")
    }

    private static func client(_ error: HTTPClientError) -> String {
        switch error {
        case .remoteConnectionClosed: "the server closed the connection before its response was complete"
        case .invalidProxyResponse: "the proxy did not connect to the server"
        case .proxyAuthenticationRequired: "the proxy requires a user and a password (407); check the request's 'proxy'"
        case .connectTimeout, .getConnectionFromPoolTimeout: "no connection in time"
        case .tlsHandshakeTimeout: "no TLS connection in time"
        case .httpProxyHandshakeTimeout, .socksHandshakeTimeout: "no connection through the proxy in time"
        case .deadlineExceeded, .readTimeout, .writeTimeout: "no response in time"
        case .uncleanShutdown: "the connection broke off before the response was complete"
        case .cancelled, .requestStreamCancelled, .alreadyShutdown: "the request was cancelled"
        case .bodyLengthMismatch: "the request's body does not match its Content-Length; remove that header"
        case .invalidURL, .emptyHost, .emptyScheme: "the address cannot be used"
        default:
            // The error's description would show the header's value.
            error.shortDescription.contains("header field")
                ? "the request has a header with a name or a value that cannot be sent; check its 'headers'"
                : error.shortDescription.prefix(1).lowercased() + error.shortDescription.dropFirst()
        }
    }

    // MARK: - TLS

    /// Returns the reason why a handshake failed, with what to do.
    static func handshake(_ reason: String) -> String {
        if reason.contains("wrong version number") {
            return "the server does not speak TLS on this port; use http:, or another port"
        }
        let isUntrusted = reason.contains("certificate verify failed")
        return "\(reason); check the server's certificate, or "
            + (isUntrusted ? "add its issuer with tls.ca" : "the request's 'tls'")
    }

    private static func tls(_ error: any Error) -> String {
        switch error {
        case NIOSSLError.uncleanShutdown: return "the TLS connection broke off"
        case NIOSSLError.unableToValidateCertificate: return "the certificate is not for the host's name"
        case NIOSSLError.failedToLoadCertificate: return "it is not a certificate in PEM"
        case NIOSSLError.failedToLoadPrivateKey:
            return "it is not a private key in PEM, or its password is wrong"
        case let error as NIOSSLExtraError:
            switch error {
            case .failedToValidateHostname: return "the certificate is not for the host's name"
            case .unknownPrivateKeyFileType: return "it is not a private key in PEM"
            case .cannotUseIPAddressInSNI, .invalidSNIHostname, .serverHostnameImpossibleToMatch:
                return "no certificate can be for the host's name"
            default: break
            }
        default: break
        }
        // BoringSSL writes error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED.
        let reasons = "\(error)".matches(of: #/error:[0-9a-fA-F]+:[^:]*:[^:]*:([A-Z0-9_]+)/#).map { match in
            match.output.1.replacing("_", with: " ").lowercased()
        }
        if !reasons.isEmpty { return reasons.joined(separator: "; ") }
        return "\(error)".contains("EOF during")
            ? "the server closed the connection during the handshake"
            : "the handshake failed"
    }

    // MARK: - Others

    private static func other(_ error: any Error) -> String {
        if let error = error as? POSIXError { return String(cString: strerror(error.code.rawValue)) }
        switch error as? DecodingError {
        case .dataCorrupted(let context), .keyNotFound(_, let context), .typeMismatch(_, let context),
            .valueNotFound(_, let context):
            return "its JSON is not as expected: " + context.debugDescription
        default: break
        }
        let type = String(reflecting: type(of: error))
        if type.hasPrefix("NIOSOCKS.") { return "the proxy did not connect to the server (SOCKS)" }
        if type.hasPrefix("NIO") || type.hasPrefix("AsyncHTTPClient.") { return "the exchange failed" }
        if type.hasPrefix("Foundation") || type.hasPrefix("__C.") { return error.localizedDescription }
        return "\(error)"
    }
}
