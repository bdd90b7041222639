import CCurl
import FeedConfiguration
import Foundation

extension CurlConnection {
    /// Sets the options of every transfer.
    func setUp(_ scheme: RemoteAddress.Scheme, _ addresses: [IPAddress]) throws {
        try throwIfFailed(tributary_curl_set_pointer(easy, Int32(CURLOPT_ERRORBUFFER), message))
        try set(CURLOPT_PROTOCOLS_STR, scheme.rawValue)
        // No proxy from the environment.
        try set(CURLOPT_PROXY, "")
        for (option, value) in [
            (CURLOPT_NOSIGNAL, 1), (CURLOPT_FILETIME, 1), (CURLOPT_TCP_KEEPALIVE, 1),
            (CURLOPT_BUFFERSIZE, 256 << 10), (CURLOPT_FTP_SKIP_PASV_IP, 1),
            (CURLOPT_FTP_FILEMETHOD, CURLFTPMETHOD_SINGLECWD), (CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2),
        ] { try set(option, value) }
        // libcurl must not resolve names: it would wait for the answer after a cancellation, too.
        if IPAddress(literal: origin.host) == nil {
            hosts = tributary_curl_append(
                nil, "\(origin.host):\(origin.port):" + addresses.map(\.description).joined(separator: ","))
            try throwIfFailed(
                tributary_curl_set_pointer(easy, Int32(CURLOPT_RESOLVE), hosts.map { UnsafeRawPointer($0) }))
        }
    }

    /// Sets the options that the request declares.
    func setUp(
        _ transport: Transport, _ authentication: Authentication?, _ scheme: RemoteAddress.Scheme
    ) throws {
        try set(CURLOPT_CONNECTTIMEOUT_MS, Int(transport.connectTimeout / .milliseconds(1)))
        var isCleartextAllowed = true
        switch authentication {
        case .basic(let user, let password, let cleartext):
            try set(CURLOPT_USERNAME, user.value)
            try set(CURLOPT_PASSWORD, password.value)
            try set(CURLOPT_SSH_AUTH_TYPES, CURLSSH_AUTH_PASSWORD | CURLSSH_AUTH_KEYBOARD)
            isCleartextAllowed = cleartext
        case .ssh(let key):
            try set(CURLOPT_USERNAME, key.user.value)
            try set(CURLOPT_SSH_PRIVATE_KEYFILE, key.privateKey)
            try set(CURLOPT_SSH_PUBLIC_KEYFILE, key.publicKey)
            try set(CURLOPT_KEYPASSWD, key.passphrase?.value)
            try set(CURLOPT_SSH_AUTH_TYPES, CURLSSH_AUTH_PUBLICKEY)
        case .bearer, .oauth2, .s3, nil: break
        }
        switch scheme {
        case .sftp:
            // Without the file, libcurl would trust any server.
            guard let known = transport.knownHosts else {
                throw FetchError(.address, "an sftp: address needs 'known_hosts', the file with the server's host key")
            }
            try set(CURLOPT_SSH_KNOWNHOSTS, known)
        case .ftp: try set(CURLOPT_USE_SSL, isCleartextAllowed ? CURLUSESSL_NONE : CURLUSESSL_ALL)
        case .ftps: try set(CURLOPT_USE_SSL, CURLUSESSL_ALL)
        }
        guard scheme != .sftp, let tls = transport.tls else { return }
        // The system's certificates stay trusted, too.
        if let trusted = tls.trustedCertificates { try set(CURLOPT_CAINFO, trusted) }
        if let certificates = tls.certificates { try set(CURLOPT_SSLCERT, certificates) }
        if let key = tls.key { try set(CURLOPT_SSLKEY, key) }
        if let password = tls.keyPassword { try set(CURLOPT_KEYPASSWD, password.value) }
    }

    func set(_ option: Int, _ value: Int) throws {
        try throwIfFailed(tributary_curl_set_number(easy, Int32(option), value))
    }

    /// libcurl copies the text.
    func set(_ option: Int, _ value: String?) throws {
        guard let value else { return try throwIfFailed(tributary_curl_set_pointer(easy, Int32(option), nil)) }
        try throwIfFailed(value.withCString { tributary_curl_set_pointer(easy, Int32(option), $0) })
    }

    func throwIfFailed(_ code: Int32) throws {
        guard code != CURLE_OK else { return }
        let text = message.pointee == 0 ? String(cString: tributary_curl_error(code)) : String(cString: message)
        throw CurlFailure(
            code: Int(code), text: text, reply: tributary_curl_number(easy, Int32(CURLINFO_RESPONSE_CODE)),
            systemError: Int32(truncatingIfNeeded: tributary_curl_number(easy, Int32(CURLINFO_OS_ERRNO))))
    }
}
