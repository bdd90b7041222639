import AsyncHTTPClient
import FeedConfiguration
import NIOCore
import NIOHTTP1

/// Checks answers between the HTTP/1 codec and async-http-client. Closes the connection on any part that
/// async-http-client cannot handle.
final class HTTP1Answers: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let bytes: HTTP1Bytes
    private let correlation: RequestCorrelation
    private var order = AnswerOrder()
    private var isRefused = false
    /// The end of an answer, until all bytes that were read with it are decoded.
    private var end: HTTPClientResponsePart?
    /// True if bytes follow the answer. No other request may use the connection, because they would be taken for its
    /// answer.
    private var isSpoiled = false
    /// The reason why a request must not be sent to the connection's address. Every write is then dropped.
    private var refusal: (any Error)?
    /// The address of the connection's other end; nil before the first request, and for other protocols than IPv4 and IPv6.
    private var peer: IPAddress?

    init(bytes: HTTP1Bytes, correlation: RequestCorrelation) {
        self.bytes = bytes
        self.correlation = correlation
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        // Another answer follows the one that has ended.
        guard end == nil else { return isSpoiled = true }
        let waitedForHead = order.waitsForHead
        do throws(AnswerError) {
            let part = unwrapInboundIn(data)
            switch part {
            case .head(let head): try order.head(status: Int(head.status.code))
            case .body: try order.body()
            case .end:
                try order.end()
                bytes.end()
                end = part
                return
            }
        } catch {
            isRefused = true
            context.fireErrorCaught(waitedForHead && bytes.isReused ? .leftOver : error)
            context.close(promise: nil)
            return
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        passEnd(context)
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        passEnd(context)
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        passEnd(context)
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if end != nil {
            // The answer is complete; the error is in the bytes after it.
            isSpoiled = true
            return passEnd(context)
        }
        // A truncated answer is still an answer.
        let isGarbage = error is NIOHTTPDecoderError || error is HTTPParserError && !Self.isCutShort(error)
        let isLeftOver = isGarbage && order.waitsForHead && bytes.isReused
        context.fireErrorCaught(isLeftOver ? AnswerError.leftOver : error)
    }

    private static func isCutShort(_ error: any Error) -> Bool {
        [.invalidEOFState, .closedConnection].contains(error as? HTTPParserError)
    }

    /// Passes on the end of an answer. async-http-client may then write the next request at once.
    private func passEnd(_ context: ChannelHandlerContext) {
        guard let end else { return }
        self.end = nil
        if isSpoiled { refusal = AnswerError.leftOver }
        context.fireChannelRead(wrapInboundOut(end))
        if isSpoiled { context.close(promise: nil) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if let refusal { return context.refuse(promise, refusal) }
        guard case .head(var head) = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
        if let entry = head.headers.first(name: RequestCorrelation.header) {
            head.headers.remove(name: RequestCorrelation.header)
            peer = peer ?? context.channel.remoteAddress?.ipAddress.flatMap { IPAddress(literal: $0) }
            do throws(AddressGuard.Refusal) {
                try correlation.send(entry, to: peer)
            } catch {
                refusal = error
                context.refuse(promise, error)
                return context.closeLater(with: error)
            }
        }
        order.begin()
        bytes.begin(
            withValidators: head.headers.contains {
                !$0.value.utf8.allSatisfy { $0 < 0x80 } && ValidatorBytes.isSent($0.name)
            })
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }
}

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
