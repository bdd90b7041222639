import NIOCore
import NIOPosix
import NIOSSL

/// An HTTP/1.1 server over TLS on a loopback port, which gives every request the same body. It would choose HTTP/2 if a
/// client offered it.
package final class TLSStubServer: Sendable {
    private let channel: any Channel
    package let port: Int

    package var url: String { "https://127.0.0.1:\(port)" }

    fileprivate init(_ body: String) async throws {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(TestCertificate.certificate.utf8)).map {
                .certificate($0)
            },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(TestCertificate.key.utf8), format: .pem)))
        configuration.applicationProtocols = ["h2", "http/1.1"]
        let context = try NIOSSLContext(configuration: configuration)
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    try channel.pipeline.syncOperations.addHandler(Answers(body))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    fileprivate func stop() async throws { try await channel.close() }

    /// Answers each head of a request.
    private final class Answers: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let body: String
        private var head = ""

        init(_ body: String) { self.body = body }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            head += String(buffer: unwrapInboundIn(data))
            guard head.hasSuffix("\r\n\r\n") else { return }
            head = ""
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
        }
    }
}

/// Runs a body with a server, and stops the server after it.
package func withTLSStubServer<Value>(
    _ content: String, _ body: (TLSStubServer) async throws -> Value
) async throws -> Value {
    let server = try await TLSStubServer(content)
    do {
        let value = try await body(server)
        try await server.stop()
        return value
    } catch {
        try await server.stop()
        throw error
    }
}
