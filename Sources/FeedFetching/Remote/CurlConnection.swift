import CCurl
import FeedConfiguration
import FeedModel
import Foundation

/// A connection to a file server. libcurl opens it with the first transfer, and keeps it for later ones.
///
/// A transfer blocks its caller's thread, and waits for the receiver of its bytes.
///
/// `@unchecked Sendable`: one thread at a time uses it.
final class CurlConnection: @unchecked Sendable {
    /// The kind of a transfer.
    enum Transfer: Equatable {
        /// A file's size and time.
        case status
        /// A file's bytes, from an offset.
        case file(from: Int)
        /// The names in a folder, one a line.
        case names
        /// The files in a folder as lines of `ls -l`.
        case lines
        /// The files in a folder with facts (FTP's MLSD, RFC 3659, section 7).
        case facts
        /// Commands in the folder of the address, as libcurl's CURLOPT_QUOTE and CURLOPT_PREQUOTE take them.
        case commands([[UInt8]])

        var hasBody: Bool {
            switch self {
            case .status, .commands: false
            case .file, .names, .lines, .facts: true
            }
        }
    }

    /// The time until a cancelled transfer ends, in milliseconds.
    private static let timeLimit: Int32 = 100

    let easy: UnsafeMutableRawPointer
    private let multi: UnsafeMutableRawPointer
    let message: UnsafeMutablePointer<CChar>
    /// The addresses of the host. libcurl reads them during its use.
    var hosts: OpaquePointer?
    let origin: Origin
    private let scheme: RemoteAddress.Scheme
    private let knownHosts: String?
    private let sockets = OpenSockets()
    /// The provenance of the address; nil if it may be any.
    private let provenance: AddressProvenance?
    /// The receiver of the current transfer's bytes.
    private var receive: ((UnsafeRawBufferPointer) throws -> Void)?
    /// The error of a callback that ended the transfer.
    private var failure: (any Error)?

    /// - Parameters:
    ///   - addresses: the addresses of the host.
    ///   - provenance: the provenance of the address; nil if it may be any.
    /// - Throws: ``FetchError`` if libcurl is missing, or lacks a feature that the request needs.
    init(
        _ request: PreparedRequest, _ address: RemoteAddress, _ addresses: [IPAddress],
        _ provenance: AddressProvenance?
    ) throws {
        try LibCurl.load()
        guard let easy = tributary_curl_easy() else { throw Self.noMemory }
        guard let multi = tributary_curl_multi() else {
            tributary_curl_free(easy, nil, nil)
            throw Self.noMemory
        }
        self.easy = easy
        self.multi = multi
        message = .allocate(capacity: CURL_ERROR_SIZE)
        message.initialize(repeating: 0, count: CURL_ERROR_SIZE)
        self.provenance = provenance
        origin = address.url.origin
        scheme = address.scheme
        knownHosts = request.transport.knownHosts
        try throwIfFailed(
            tributary_curl_set_callbacks(
                easy, { CurlConnection.of($3)?.take($0, $1 * $2) ?? 0 },
                { context, _, address in
                    address.flatMap { CurlConnection.of(context)?.open($0) } ?? Int32(CURL_SOCKET_BAD)
                },
                { _, _, found, match, context in
                    CurlConnection.of(context)?.judge(found?.pointee, match) ?? Int32(CURLKHSTAT_REJECT)
                }, Unmanaged.passUnretained(self).toOpaque()))
        try throwIfFailed(
            tributary_curl_set_close(
                easy,
                { context, descriptor in
                    context.map { Unmanaged<OpenSockets>.fromOpaque($0).takeUnretainedValue().close(descriptor) }
                    return 0
                }, Unmanaged.passUnretained(sockets).toOpaque()))
        try setUp(address.scheme, addresses)
        try setUp(request.transport, request.authentication, address.scheme)
    }

    deinit {
        // Closing a connection may take a second.
        let handles = Handles(easy: easy, multi: multi, hosts: hosts, message: message, sockets: sockets)
        Thread.detachNewThread {
            tributary_curl_free(handles.easy, handles.multi, handles.hosts)
            handles.message.deallocate()
            withExtendedLifetime(handles.sockets) {}
        }
    }

    private static var noMemory: FetchError { FetchError(.connection, "there is no memory for a connection") }

    /// `@unchecked Sendable`: passed to the one thread that closes the connection.
    private struct Handles: @unchecked Sendable {
        let easy: UnsafeMutableRawPointer
        let multi: UnsafeMutableRawPointer
        let hosts: OpaquePointer?
        let message: UnsafeMutablePointer<CChar>
        /// libcurl uses it when it closes the connection.
        let sockets: OpenSockets
    }

    // MARK: - Transfers

    /// Runs a transfer to its end, on this thread.
    ///
    /// - Parameters:
    ///   - address: a URL of the server.
    ///   - check: throws to end the transfer. Called at least ten times a second.
    /// - Throws: ``CurlFailure``; the errors of `check` and `receive`.
    func run(
        _ transfer: Transfer, of address: String, check: () throws -> Void,
        receive: (UnsafeRawBufferPointer) throws -> Void = { _ in }
    ) throws {
        try set(CURLOPT_URL, address)
        try set(CURLOPT_NOBODY, transfer.hasBody ? 0 : 1)
        let commands = try setCommands(of: transfer)
        defer { clearCommands(commands) }
        try set(CURLOPT_DIRLISTONLY, transfer == .names ? 1 : 0)
        try set(CURLOPT_CUSTOMREQUEST, transfer == .facts ? "MLSD" : nil)
        var offset = 0
        if case .file(let start) = transfer { offset = start }
        try throwIfFailed(tributary_curl_set_offset(easy, Int32(CURLOPT_RESUME_FROM_LARGE), Int64(offset)))
        message.pointee = 0
        failure = nil
        try withoutActuallyEscaping(receive) { receive in
            // For a transfer without a body, libcurl passes generated headers.
            self.receive = transfer.hasBody ? receive : { _ in }
            defer { self.receive = nil }
            try throwIfFailed(tributary_curl_begin(multi, easy))
            var isDone = false
            defer {
                // libcurl would request the closing of the file, and wait for the answer.
                if !isDone { sockets.shutDown() }
                tributary_curl_end(multi, easy)
            }
            var running: Int32 = 1
            while true {
                try throwIfFailed(tributary_curl_perform(multi, &running))
                if let failure { throw failure }
                guard running > 0 else { break }
                try throwIfFailed(tributary_curl_wait(multi, Self.timeLimit))
                try check()
            }
            isDone = true
            try throwIfFailed(tributary_curl_result(multi))
        }
    }

    /// SFTP's commands have whole paths, and run first. FTP's are relative to the folder, into which the connection changes
    /// first.
    private var commandOption: Int32 { Int32(scheme == .sftp ? CURLOPT_QUOTE : CURLOPT_PREQUOTE) }

    /// - Returns: the list that libcurl reads during the transfer.
    private func setCommands(of transfer: Transfer) throws -> OpaquePointer? {
        guard case .commands(let commands) = transfer else { return nil }
        let list = commands.reduce(nil as OpaquePointer?) { list, command in
            command.withCName { tributary_curl_append(list, $0) }
        }
        try throwIfFailed(
            tributary_curl_set_pointer(easy, commandOption, list.map { UnsafeRawPointer($0) }))
        return list
    }

    private func clearCommands(_ list: OpaquePointer?) {
        guard let list else { return }
        _ = tributary_curl_set_pointer(easy, commandOption, nil)
        tributary_curl_free_list(list)
    }

    /// The size of the last transfer's file; nil if the server does not report it.
    var size: Int? { tributary_curl_offset(easy, Int32(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)).nonNegative }

    /// The time of its last change, in seconds since 1970; nil if the server does not report it.
    var modified: Int? { tributary_curl_offset(easy, Int32(CURLINFO_FILETIME_T)).nonNegative }

    /// The address of the server.
    var server: IPAddress? {
        tributary_curl_text(easy, Int32(CURLINFO_PRIMARY_IP)).flatMap { IPAddress(literal: String(cString: $0)) }
    }

    // MARK: - Callbacks

    private static func of(_ context: UnsafeMutableRawPointer?) -> CurlConnection? {
        context.map { Unmanaged<CurlConnection>.fromOpaque($0).takeUnretainedValue() }
    }

    /// - Returns: the number of bytes consumed; a smaller number than received ends the transfer.
    private func take(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        do {
            try receive?(UnsafeRawBufferPointer(start: bytes, count: count))
            return count
        } catch {
            failure = error
            return 0
        }
    }

    /// Creates the socket of a connection, if its address is allowed.
    private func open(_ address: UnsafeMutablePointer<curl_sockaddr>) -> Int32 {
        if let provenance {
            // The address is longer than its type here.
            let start = UnsafeMutableRawPointer(address) + (MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 0)
            guard let place = IPAddress(start.assumingMemoryBound(to: sockaddr.self)) else {
                return Int32(CURL_SOCKET_BAD)
            }
            guard provenance.admits(place) else {
                failure = AddressGuard.Refusal(provenance, to: origin, place)
                return Int32(CURL_SOCKET_BAD)
            }
        }
        let descriptor = socket(address.pointee.family, address.pointee.socktype, address.pointee.`protocol`)
        if descriptor >= 0 {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            sockets.note(descriptor)
        }
        return descriptor
    }

    private func judge(_ found: curl_khkey?, _ match: Int32) -> Int32 {
        guard match != CURLKHMATCH_OK else { return Int32(CURLKHSTAT_FINE) }
        failure = HostKeyRefusal(
            host: origin.host, port: origin.port, file: knownHosts ?? "", key: found.map(HostKey.init),
            isOther: match == CURLKHMATCH_MISMATCH)
        return Int32(CURLKHSTAT_REJECT)
    }
}

extension Int64 {
    fileprivate var nonNegative: Int? { self < 0 ? nil : Int(self) }
}

/// The open sockets of a connection to a file server.
final class OpenSockets: Sendable {
    private let descriptors = Mutex<Set<Int32>>([])

    func note(_ descriptor: Int32) { descriptors.withLock { _ = $0.insert(descriptor) } }

    /// Closes a noted socket.
    func close(_ descriptor: Int32) {
        descriptors.withLock { descriptors in
            descriptors.remove(descriptor)
            // Closed within the lock, because another thread may open a socket of the same number at once.
            _ = Foundation.close(descriptor)
        }
    }

    /// Shuts the connections down, so that waits for the server end at once.
    func shutDown() {
        descriptors.withLock { descriptors in
            for descriptor in descriptors { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }
}

/// libcurl, loaded with the first request to a file server. Other processes do not load it, nor its libraries for SSH,
/// TLS, Kerberos and LDAP.
enum LibCurl {
    #if os(macOS)
        private static let files = ["libcurl.4.dylib", "/opt/homebrew/opt/curl/lib/libcurl.4.dylib"]
    #else
        private static let files = ["libcurl.so.4"]
    #endif

    /// The error of loading; nil if the library is loaded. The first use loads it; concurrent uses wait.
    private static let failure: FetchError? = {
        var reason = ""
        for file in files {
            guard let message = tributary_curl_load(file) else { return nil }
            reason = reason.isEmpty ? String(cString: message) : reason
            free(message)
        }
        return FetchError(
            .address,
            "libcurl, which fetches sftp:, ftps: and ftp: addresses, cannot be loaded (\(reason)); "
                + "install the package libcurl4, version 7.85 or later")
    }()

    /// Loads the library, once in a process.
    ///
    /// - Throws: ``FetchError`` with the name of the package to install.
    static func load() throws {
        if let failure { throw failure }
    }
}

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
