import NIOCore

/// Closes the connection of a client that has read nothing for a time, while there is something for it: it holds one of
/// few places.
final class StalledClientHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    private let timeLimit: TimeAmount
    private var closing: Scheduled<Void>?

    init(_ timeLimit: TimeAmount) { self.timeLimit = timeLimit }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        closing?.cancel()
        closing = nil
        if !context.channel.isWritable {
            closing = context.eventLoop.assumeIsolated().scheduleTask(in: timeLimit) { context.close(promise: nil) }
        }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        closing?.cancel()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { closing?.cancel() }
}
