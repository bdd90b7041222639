import NIOCore

/// Counts the requests of an HTTP/2 connection.
final class HTTP2Uses: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    private var count = 0

    /// The number of one more request, from 1.
    func next() -> Int {
        count += 1
        return count
    }
}
