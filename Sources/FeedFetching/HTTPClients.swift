import AsyncHTTPClient
package import FeedConfiguration
import FeedModel
package import NIOCore
import NIOPosix
import NIOSSL

/// A thread that serves connections as long as somebody keeps it.
package protocol ConnectionLoop: AnyObject, Sendable {
    var loops: any EventLoopGroup { get }
}

/// The HTTP clients, one for each declared transport, from its first request to its last use.
final class HTTPClients: Sendable {
    private struct State {
        var clients: [Transport: HTTPClient] = [:]
        var uses = UseCounts<Transport>()
    }

    private let state = Mutex(State())
    /// The loop of the connections; nil for one that all fetchers of the process share.
    let loop: (any ConnectionLoop)?

    init(on loop: (any ConnectionLoop)? = nil) { self.loop = loop }

    /// The number of clients that are open.
    var count: Int { state.withLock { $0.clients.count } }

    /// Returns the client for a transport.
    ///
    /// - Parameter make: creates the client if there is none.
    func client(_ transport: Transport, make: () throws -> HTTPClient) throws -> HTTPClient {
        try state.withLock { state in
            if let client = state.clients[transport] { return client }
            let client = try make()
            state.clients[transport] = client
            return client
        }
    }

    func begin(_ transport: Transport) { state.withLock { $0.uses.begin(transport) } }

    func end(_ transport: Transport) { close { $0.uses.end(transport) ? [transport] : [] } }

    func declare(_ transports: Set<Transport>) {
        close { $0.uses.declare(transports, known: Array($0.clients.keys)) }
    }

    /// Closes unused clients.
    ///
    /// - Parameter unneeded: returns their transports.
    private func close(_ unneeded: (inout State) -> [Transport]) {
        let clients = state.withLock { state in unneeded(&state).compactMap { state.clients.removeValue(forKey: $0) } }
        guard !clients.isEmpty else { return }
        // No request is in progress, so this closes only idle connections.
        Task { [self] in
            for client in clients { try? await client.shutdown() }
            withExtendedLifetime(loop) {}
        }
    }

    /// Closes the connections. Call it once, when no request is in progress.
    ///
    /// A connection attempt cannot be cancelled, and the client waits for its end. This function returns after three
    /// seconds at the latest; the client ends in the background.
    func shutdown() async throws {
        let clients = state.withLock { Array($0.clients.values) }
        guard !clients.isEmpty else { return }
        let (ends, end) = AsyncStream<Result<Void, any Error>>.makeStream(bufferingPolicy: .bufferingOldest(1))
        Task { [self] in
            do {
                for client in clients { try await client.shutdown() }
                end.yield(.success(()))
            } catch {
                end.yield(.failure(error))
            }
            withExtendedLifetime(loop) {}
        }
        let timer = Task {
            try await NetworkTime.sleep(for: .seconds(3))
            end.yield(.success(()))
        }
        defer { timer.cancel() }
        // A separate task: the caller's may be cancelled, and waiting in it would then end at once.
        let waiter = Task { for await result in ends { return try result.get() } }
        try await waiter.value
    }
}

/// Counts the uses of values that a configuration declares, to find unused values.
struct UseCounts<Value: Hashable> {
    private var counts: [Value: Int] = [:]
    /// The values that the current configuration declares; nil before the first reload.
    private var declared: Set<Value>?

    mutating func begin(_ value: Value) { counts[value, default: 0] += 1 }

    /// - Returns: true if the value is unused.
    mutating func end(_ value: Value) -> Bool {
        counts[value] = counts[value].flatMap { $0 > 1 ? $0 - 1 : nil }
        return isUnneeded(value)
    }

    /// - Parameter known: the values that may have been in use.
    /// - Returns: the unused ones of them.
    mutating func declare(_ values: Set<Value>, known: some Sequence<Value>) -> [Value] {
        declared = values
        return known.filter(isUnneeded)
    }

    private func isUnneeded(_ value: Value) -> Bool {
        declared.map { !$0.contains(value) } ?? false && counts[value] == nil
    }
}

extension HTTPFetcher {
    /// Notes that a run is about to send requests. Their connections and tokens are kept until its end, even after a
    /// reload.
    package func begin(_ requests: [RequestDeclaration]) {
        for index in requests.indices {
            clients.begin(requests[index].transport)
            if let client = requests[index].tokenClient { tokens.begin(client) }
        }
    }

    /// Notes that a run has ended.
    package func end(_ requests: [RequestDeclaration]) {
        for index in requests.indices {
            clients.end(requests[index].transport)
            if let client = requests[index].tokenClient { tokens.end(client) }
        }
    }

    /// Notes the requests of the current configuration. Connections and tokens of others end with the runs that use
    /// them.
    package func declare(_ requests: [RequestDeclaration]) {
        clients.declare(Set(requests.map(\.transport)))
        tokens.declare(Set(requests.compactMap(\.tokenClient)))
    }
}

extension RequestDeclaration {
    fileprivate var tokenClient: ClientCredentials? {
        if case .oauth2(let client) = authentication { client } else { nil }
    }
}

extension Transport {
    /// Returns a client that connects in this way, and sends requests over HTTP/1.1.
    ///
    /// - Parameter loops: the loop of its connections; nil for one that all fetchers of the process share.
    /// - Throws: the error of a certificate or key that cannot be loaded.
    func makeClient(_ connections: Connections, on loops: (any EventLoopGroup)?) throws -> HTTPClient {
        var configuration = HTTPClient.Configuration.plain(connectTimeout: connectTimeout)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = Self.pooledConnections
        connections.configure(&configuration)
        if let tls { configuration.tlsConfiguration = try tls.configuration() }
        if let proxy { configuration.proxy = proxy.configuration }
        return HTTPClient(eventLoopGroupProvider: .shared(loops ?? Self.eventLoops), configuration: configuration)
    }

    /// The most idle connections to one host. Each may turn out to be closed.
    static let pooledConnections = 64

    /// One thread suffices for thousands of requests a second. It lives as long as the process, as NIO's singletons do.
    private static let eventLoops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
}

extension HTTPClient.Configuration {
    /// The configuration of a client that leaves redirects, content codings and repetitions to its caller.
    static func plain(connectTimeout: Duration) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.httpVersion = .http1Only
        configuration.timeout.connect = TimeAmount(connectTimeout)
        configuration.tlsConfiguration = .modernClient
        configuration.redirectConfiguration = .disallow
        configuration.decompression = .disabled
        // The client must not repeat a failed connection until the timeout; `retries` limits the attempts.
        configuration.connectionPool.retryConnectionEstablishment = false
        // Otherwise each request makes the attributes of a span that nobody receives.
        configuration.tracing.tracer = nil
        return configuration
    }
}

extension TLSConfiguration {
    /// A client's configuration with the system's certificates. Requires TLS 1.2, because earlier versions are insecure
    /// (RFC 8996).
    static var modernClient: TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        return configuration
    }
}

extension Transport.TLS {
    fileprivate func configuration() throws -> TLSConfiguration {
        var configuration = TLSConfiguration.modernClient
        // Checked again, because files may have changed since the configuration was read, and must not block the
        // client.
        for file in [trustedCertificates, certificates, key].compactMap(\.self) { try RegularFile.check(file) }
        if let trustedCertificates {
            configuration.additionalTrustRoots = [
                .certificates(try NIOSSLCertificate.fromPEMFile(trustedCertificates))
            ]
        }
        if let certificates, let key {
            configuration.certificateChain = try NIOSSLCertificate.fromPEMFile(certificates).map { .certificate($0) }
            configuration.privateKey = .privateKey(
                try NIOSSLPrivateKey(file: key, format: .pem) { $0((keyPassword?.value ?? "").utf8) })
        }
        return configuration
    }
}

extension Transport.Proxy {
    fileprivate var configuration: HTTPClient.Configuration.Proxy {
        switch kind {
        case .socks5: return .socksServer(host: host, port: port)
        case .http:
            guard let user else { return .server(host: host, port: port) }
            return .server(
                host: host, port: port, authorization: .basic(username: user.value, password: password?.value ?? ""))
        }
    }
}
