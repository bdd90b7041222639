import NIOCore
import NIOHTTP2

/// Counts the requests of an HTTP/2 connection. Closes it after an error, and after a GOAWAY once no request is in
/// progress. async-http-client would keep such a connection until the server closes it.
final class HTTP2Uses: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    private var count = 0
    private var open = 0
    private var isGoingAway = false
    /// The last stream that the server may have processed, from its GOAWAY.
    private var lastProcessed = HTTP2StreamID.maxID
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Counts one more request.
    ///
    /// - Returns: the request's number, from 1.
    func begin() -> Int {
        count += 1
        open += 1
        return count
    }

    /// Notes that a request has ended.
    func end() {
        open -= 1
        closeIfUnused()
    }

    /// Returns true if the server has reported that it has not processed a stream (RFC 9113, section 6.8).
    func isUnprocessed(_ stream: HTTP2StreamID) -> Bool { stream > lastProcessed }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Frames of streams do not reach this handler, except PRIORITY.
        if case .goAway(let last, _, _) = unwrapInboundIn(data).payload {
            isGoingAway = true
            lastProcessed = min(lastProcessed, last)
            closeIfUnused()
        }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }

    private func closeIfUnused() {
        guard isGoingAway, open == 0, let context else { return }
        // Deferred, because the stream may still be handling an event.
        context.eventLoop.assumeIsolated().execute { context.close(promise: nil) }
    }
}
