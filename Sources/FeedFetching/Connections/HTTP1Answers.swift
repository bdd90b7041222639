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

/// Checks the order of an answer's parts: interim heads, a head, pieces of a body, an end. async-http-client traps on
/// any other order.
struct AnswerOrder {
    private enum Place {
        case head, body, over
    }

    private var place = Place.over
    private var interimHeads = 0

    /// True before the first part of an answer.
    var waitsForHead: Bool { place == .head && interimHeads == 0 }

    /// Resets the order for the answer to a new request.
    mutating func begin() {
        place = .head
        interimHeads = 0
    }

    /// - Throws: ``AnswerError``.
    mutating func head(status: Int) throws(AnswerError) {
        guard (100...999).contains(status) else { throw .status }
        guard place == .head else { throw .order }
        guard status != 101 else { throw .switchesProtocols }
        if status < 200 {
            interimHeads += 1
            guard interimHeads <= AnswerError.interimLimit else { throw .tooManyInterimHeads }
        } else {
            place = .body
        }
    }

    /// - Throws: ``AnswerError``.
    func body() throws(AnswerError) {
        guard place == .body else { throw .order }
    }

    /// - Throws: ``AnswerError``.
    mutating func end() throws(AnswerError) {
        guard place == .body else { throw .order }
        place = .over
    }
}

/// The reason to refuse a connection's answer: it would trap in NIO or async-http-client, or it violates HTTP.
enum AnswerError: Error, Equatable, CustomStringConvertible {
    /// The connection had served an earlier request and ended before the first byte of this answer.
    case closedBeforeAnswer
    /// The connection had served an earlier request, and the received bytes belong to no request.
    case leftOver
    /// An invalid status: not a number, or not from 100 to 999.
    case status
    /// Status 101, although the request named no other protocol (RFC 9110, section 15.2.2).
    case switchesProtocols
    /// Too many interim heads before the answer's own (RFC 9110, section 15.2).
    case tooManyInterimHeads
    /// A body or an end without a head, or a head out of place.
    case order

    /// The most interim heads of an answer.
    static let interimLimit = 100

    var description: String {
        switch self {
        case .closedBeforeAnswer: "the server closed a kept-alive connection instead of answering"
        case .leftOver: "a kept-alive connection brought bytes that are not a response"
        case .status: "the response's status is not a number from 100 to 999"
        case .switchesProtocols: "the response's status is 101, but no other protocol was requested"
        case .tooManyInterimHeads: "more than \(Self.interimLimit) interim answers (1xx) came before the answer"
        case .order: "the parts of the response come in an order that HTTP does not allow"
        }
    }
}

/// Refusal of a request in a handler. It is deferred, because async-http-client is still writing the request, and must
/// not receive an error meanwhile.
extension ChannelHandlerContext {
    /// Drops the write.
    func refuse(_ promise: EventLoopPromise<Void>?, _ error: any Error) {
        guard let promise else { return }
        eventLoop.assumeIsolated().execute { promise.fail(error) }
    }

    /// Passes an error to the next handler, and closes the channel.
    func closeLater(with error: any Error) {
        eventLoop.assumeIsolated().execute { [self] in
            fireErrorCaught(error)
            close(promise: nil)
        }
    }
}
