import NIOCore
import NIOHTTP2

/// Counts the requests of an HTTP/2 connection. Closes it after an error, and after a GOAWAY once no request is under
/// way. The libraries below would keep such a connection until the server closes it.
final class HTTP2Uses: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    private var count = 0
    private var open = 0
    private var isGoingAway = false
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

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Frames of streams do not reach this handler, except PRIORITY.
        if case .goAway = unwrapInboundIn(data).payload {
            isGoingAway = true
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
        // Later, as the stream may still be handling an event.
        context.eventLoop.assumeIsolated().execute { context.close(promise: nil) }
    }
}
