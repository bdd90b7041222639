import NIOCore
import NIOHPACK
import NIOPosix
import NIOSSL
import Synchronization

/// An HTTP/2 server over TLS on a loopback port, which answers each request with the bytes that it is told.
package final class HTTP2StubServer: Sendable {
    package struct Request: Sendable {
        package var stream: Int
        /// The request's number on its connection, from 1.
        package var number: Int
        package var headers: [(name: String, value: String)]

        package subscript(name: String) -> String? { headers.first { $0.name == name }?.value }
    }

    /// - Returns: the bytes of frames; nil to close the connection.
    package typealias Answer = @Sendable (Request) -> [UInt8]?

    private let channel: any Channel
    private let received: Received
    package let port: Int

    package var url: String { "https://127.0.0.1:\(port)" }
    package var requests: [Request] { received.all.withLock { $0 } }

    fileprivate final class Received: Sendable {
        let all = Mutex<[Request]>([])
    }

    fileprivate init(_ answer: @escaping Answer) async throws {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(TestCertificate.certificate.utf8)).map {
                .certificate($0)
            },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(TestCertificate.key.utf8), format: .pem)))
        configuration.applicationProtocols = ["h2"]
        let context = try NIOSSLContext(configuration: configuration)
        let received = Received()
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    try channel.pipeline.syncOperations.addHandler(Frames(answer, received))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        self.received = received
        port = channel.localAddress?.port ?? 0
    }

    fileprivate func stop() async throws { try await channel.close() }

    /// Takes a connection's bytes apart into frames.
    private final class Frames: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let answer: Answer
        private let received: Received
        private var bytes = ByteBuffer()
        private var hasPreface = false
        private var decoder: HPACKDecoder?
        private var requests = 0

        init(_ answer: @escaping Answer, _ received: Received) {
            self.answer = answer
            self.received = received
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            bytes.writeImmutableBuffer(unwrapInboundIn(data))
            if !hasPreface {
                guard bytes.readSlice(length: 24) != nil else { return }
                hasPreface = true
                decoder = HPACKDecoder(allocator: context.channel.allocator)
                send(HTTP2Frames.frame(4, stream: 0), context)
            }
            while let head = bytes.getBytes(at: bytes.readerIndex, length: 9) {
                let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
                guard bytes.readableBytes >= 9 + length else { return }
                bytes.moveReaderIndex(forwardBy: 9)
                guard let payload = bytes.readSlice(length: length) else { return }
                take(head[3], flags: head[4], stream: Int(head[7]) << 8 | Int(head[8]), payload, context)
            }
        }

        private func take(
            _ type: UInt8, flags: UInt8, stream: Int, _ payload: ByteBuffer, _ context: ChannelHandlerContext
        ) {
            var payload = payload
            if type == 4, flags == 0 { send(HTTP2Frames.frame(4, flags: 1, stream: 0), context) }
            guard type == 1 else { return }
            // Priority comes before the fields.
            if flags & 0x20 != 0 { payload.moveReaderIndex(forwardBy: 5) }
            let headers = (try? decoder?.decodeHeaders(from: &payload)).flatMap(\.self) ?? [:]
            requests += 1
            let request = Request(stream: stream, number: requests, headers: headers.map { ($0.name, $0.value) })
            received.all.withLock { $0.append(request) }
            guard let answer = answer(request) else {
                context.close(promise: nil)
                return
            }
            send(answer, context)
        }

        private func send(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
        }
    }
}

/// Runs a body with a server, and stops the server after it.
package func withHTTP2StubServer<Value>(
    _ answer: @escaping HTTP2StubServer.Answer, _ body: (HTTP2StubServer) async throws -> Value
) async throws -> Value {
    let server = try await HTTP2StubServer(answer)
    do {
        let value = try await body(server)
        try await server.stop()
        return value
    } catch {
        try await server.stop()
        throw error
    }
}
