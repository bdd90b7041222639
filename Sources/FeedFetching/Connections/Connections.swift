import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// Adds our handlers to async-http-client's connections, before its own.
struct Connections: Sendable {
    let correlation: RequestCorrelation

    func configure(_ configuration: inout HTTPClient.Configuration) {
        configuration.http1_1ConnectionDebugInitializer = { [correlation] channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                let bytes = HTTP1Bytes()
                let encoder = try pipeline.handler(type: HTTPRequestEncoder.self)
                let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
                try pipeline.addHandler(bytes, position: .before(encoder))
                try pipeline.addHandler(HTTP1Answers(bytes: bytes, correlation: correlation), position: .after(decoder))
            }
        }
    }
}
