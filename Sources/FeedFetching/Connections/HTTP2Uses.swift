import NIOCore
import NIOHTTP2

/// Counts the requests of an HTTP/2 connection, and closes it when it is of no more use: after an error, and after a GOAWAY
/// once no request is under way. The libraries below keep such a connection for as long as the server does.
final class HTTP2Uses: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    private var count = 0
    private var open = 0
    private var isGoingAway = false
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// One more request.
    ///
    /// - Returns: its number, from 1.
    func begin() -> Int {
        count += 1
        open += 1
        return count
    }

    /// A request has ended.
    func end() {
        open -= 1
        closeIfUnused()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Frames of streams are not passed on to here, except those of priority.
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
        // Not in the midst of what the stream is being told.
        context.eventLoop.assumeIsolated().execute { context.close(promise: nil) }
    }
}
