import AsyncHTTPClient
import FeedConfiguration
import NIOCore
import NIOPosix
import NIOSSL

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
