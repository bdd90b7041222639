import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOHTTP2

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
        configuration.http2ConnectionDebugInitializer = { channel in
            channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(HTTP2Uses()) }
        }
        configuration.http2StreamChannelDebugInitializer = { [correlation] channel in
            channel.eventLoop.makeCompletedFuture {
                let uses = try channel.parent?.pipeline.syncOperations.handler(type: HTTP2Uses.self)
                try channel.pipeline.syncOperations.addHandler(
                    HTTP2Answers(correlation: correlation, uses: uses), position: .first)
            }
        }
    }
}
