import NIOCore

/// What a handler does with a request that must not be sent. All of it comes later: async-http-client is still about to
/// write the request, and an error would find it in the middle of that.
extension ChannelHandlerContext {
    /// Drops what was to be written.
    func refuse(_ promise: EventLoopPromise<Void>?, _ error: any Error) {
        guard let promise else { return }
        eventLoop.assumeIsolated().execute { promise.fail(error) }
    }

    /// Tells the next handler of an error, and closes the channel.
    func closeLater(with error: any Error) {
        eventLoop.assumeIsolated().execute { [self] in
            fireErrorCaught(error)
            close(promise: nil)
        }
    }
}
