import CCurl
import FeedModel
import FeedConfiguration
import Foundation

/// The error of a failed transfer.
struct CurlFailure: Error {
    /// libcurl's code (libcurl-errors(3)).
    var code: Int
    var text: String
    /// The code of the last reply of an FTP server (RFC 959, section 4.2); zero without one.
    var reply: Int
    /// The system's error; zero for none.
    var systemError: Int32

    /// True if an FTP server does not implement a command, or not with its argument.
    var isUnknownCommand: Bool { [500, 501, 502, 504].contains(reply) }

    /// True if the file does not exist. An FTP server reports the same for a file without permission.
    var isMissing: Bool { code == CURLE_REMOTE_FILE_NOT_FOUND }
}

/// A host key, as SSH shows it.
struct HostKey {
    private static let names = [
        CURLKHTYPE_RSA: "ssh-rsa", CURLKHTYPE_DSS: "ssh-dss", CURLKHTYPE_ECDSA: "ecdsa",
        CURLKHTYPE_ED25519: "ssh-ed25519",
    ]

    /// Its type and its fingerprint, as `ssh-keygen -l` prints them.
    let shown: String

    init(_ key: curl_khkey) {
        let bytes = key.key.map { start in
            key.len > 0 ? Data(bytes: start, count: key.len) : Data(base64Encoded: String(cString: start)) ?? Data()
        }
        let digest = Data(SHA256.digest(of: bytes ?? Data()).bytes).base64EncodedString().replacing("=", with: "")
        shown = "\(Self.names[Int(key.keytype)] ?? "unknown type") SHA256:\(digest)"
    }
}

/// The error of a server whose host key is unknown or differs from the known one.
struct HostKeyRefusal: Error, CustomStringConvertible {
    var host: String
    var port: Int
    /// The file of known hosts.
    var file: String
    var key: HostKey?
    /// True if the file has another key for the host.
    var isOther: Bool

    var description: String {
        let shown = key.map { " (\($0.shown))" } ?? ""
        let scan = "ssh-keyscan -p \(port) \(host)"
        return isOther
            ? "the host key of \(host):\(port)\(shown) is another than the one in \(file): either the server has a new key, or "
                + "somebody is between here and there; ask the server's operator before you replace the line by what "
                + "`\(scan)` prints"
            : "the host key of \(host):\(port)\(shown) is not in \(file); `\(scan)` prints the line to add: compare its "
                + "fingerprint (`ssh-keygen -lf`) with what the server's operator says"
    }
}

extension FetchError {
    /// Creates an error from one of a file server, with a text for users.
    init(remote error: any Error, to request: PreparedRequest, at address: RemoteAddress) {
        let subject = "\(request.method) \(request.url)"
        switch error {
        case let error as FetchError: self = error
        case let error as AddressGuard.Refusal: self.init(.redirect, "\(subject): \(error)")
        case let error as HostKeyRefusal: self.init(.address, "\(subject): \(error)")
        case let error as CurlFailure:
            let (code, text) = error.meaning(request, address)
            self.init(code, "\(subject): \(text)")
        default: self.init(.connection, "\(subject): \(ErrorText.words(error))")
        }
    }
}

extension CurlFailure {
    fileprivate func meaning(_ request: PreparedRequest, _ address: RemoteAddress) -> (FetchError.Code, String) {
        let reply = reply > 0 && address.scheme != .sftp ? " (it answered \(reply))" : ""
        switch code {
        case CURLE_COULDNT_CONNECT where systemError == ECONNREFUSED:
            return (.connection, ErrorText.connectionRefused)
        case CURLE_COULDNT_CONNECT where systemError != 0:
            return (.connection, "no connection: \(String(cString: strerror(systemError)))")
        case CURLE_OPERATION_TIMEDOUT:
            return (.timeout, "no connection within \(request.transport.connectTimeout.secondsText) (connect_timeout)")
        case CURLE_LOGIN_DENIED:
            let what =
                if case .ssh = request.authentication {
                    "the user or their key, or the passphrase is not the key's"
                } else { "the user or the password" }
            return (.status, "the server refused \(what)\(reply): \(text); check the request's 'auth'")
        case CURLE_REMOTE_FILE_NOT_FOUND, CURLE_FTP_COULDNT_RETR_FILE:
            return (
                .file,
                "the server has no such \(address.isFolder ? "folder" : "file"), or does not let this user read it\(reply)"
            )
        case CURLE_REMOTE_ACCESS_DENIED:
            return (.file, "the server does not let this user read it, or has no such folder\(reply): \(text)")
        case CURLE_USE_SSL_FAILED:
            return (
                .address,
                "the server offers no TLS\(reply), and so would get the password in clear text; use ftps: or sftp:, or set "
                    + "'cleartext' in auth.basic if the network is trusted"
            )
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_PEER_FAILED_VERIFICATION,
            CURLE_SSL_CACERT_BADFILE:
            guard address.scheme != .sftp else { return (.connection, "no SSH connection: \(text)") }
            return (
                .connection, "no TLS connection: \(text); check the server's certificate, or the request's 'tls'"
            )
        case CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING:
            return (.truncated, "the connection broke off before the file was complete: \(text)")
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_UNKNOWN_OPTION:
            return (
                .address,
                "libcurl of this machine is older than 7.85, or was built without \(address.scheme.rawValue); install the package libcurl4"
            )
        case CURLE_BAD_DOWNLOAD_RESUME: return (.decoding, "the server cannot send the rest of a file: \(text)")
        case CURLE_SSH:
            return (
                .truncated,
                "the SSH connection broke off (\(text)); where the address is of a folder, end it with a '/'"
            )
        default: return (.connection, text)
        }
    }
}
