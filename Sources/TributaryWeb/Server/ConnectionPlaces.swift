import NIOCore
import FeedModel

/// The connections of a server, limited to a number. One more closes the one that has been idle for the longest time, so
/// that those who connect and ask nothing keep nobody out.
final class ConnectionPlaces: Sendable {
    private struct Connection {
        var channel: any Channel
        /// Grows with each event of any connection.
        var lastEvent: Int
        /// True from a whole request until the beginning of its answer.
        var isAsking = false
    }

    private struct State {
        var connections: [ObjectIdentifier: Connection] = [:]
        var events = 0
    }

    private let limit: Int
    private let state = Mutex(State())

    /// - Parameter limit: the most connections, as far as some are idle; at most twice as many where all wait for answers.
    init(limit: Int) { self.limit = limit }

    var count: Int { state.withLock(\.connections.count) }

    /// Takes a connection in, and closes another one, or the new one, where there are too many.
    func add(_ channel: any Channel) {
        let closed: (any Channel)? = state.withLock { state in
            state.events += 1
            defer {
                state.connections[ObjectIdentifier(channel)] = Connection(channel: channel, lastEvent: state.events)
            }
            guard state.connections.count >= limit else { return nil }
            let idle = state.connections.filter { !$0.value.isAsking }.min { $0.value.lastEvent < $1.value.lastEvent }
            guard let idle else { return state.connections.count < 2 * limit ? nil : channel }
            state.connections[idle.key] = nil
            return idle.value.channel
        }
        closed?.close(promise: nil)
    }

    func remove(_ channel: any Channel) {
        state.withLock { $0.connections[ObjectIdentifier(channel)] = nil }
    }

    /// Takes note that a connection is in use.
    ///
    /// - Parameter isAsking: true for a part of a request, false for a part of an answer.
    func note(_ channel: any Channel, isAsking: Bool) {
        state.withLock { state in
            state.events += 1
            state.connections[ObjectIdentifier(channel)]?.lastEvent = state.events
            state.connections[ObjectIdentifier(channel)]?.isAsking = isAsking
        }
    }

    /// The handler of one connection. It stands behind the decoder, and sees whole heads of requests.
    final class Handler: ChannelDuplexHandler, RemovableChannelHandler {
        typealias InboundIn = Any
        typealias OutboundIn = Any

        private let places: ConnectionPlaces

        init(_ places: ConnectionPlaces) { self.places = places }

        /// The channel is set up by now: closed before, it would be an error of the server's.
        func channelActive(context: ChannelHandlerContext) {
            context.fireChannelActive()
            places.add(context.channel)
        }

        func handlerRemoved(context: ChannelHandlerContext) { places.remove(context.channel) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            places.note(context.channel, isAsking: true)
            context.fireChannelRead(data)
        }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            places.note(context.channel, isAsking: false)
            context.write(data, promise: promise)
        }
    }
}
