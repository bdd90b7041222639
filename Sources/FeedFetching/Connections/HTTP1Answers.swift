import NIOCore
import NIOHTTP1

/// Checks answers between the HTTP/1 codec and async-http-client. Passes on only what async-http-client can handle, and
/// closes the connection on anything else.
final class HTTP1Answers: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let bytes: HTTP1Bytes
    private let tickets: SendTickets
    private var order = AnswerOrder()
    private var isRefused = false
    /// Why a request must not be sent to the connection's address. All that is written is then dropped.
    private var refusal: AddressGuard.Refusal?

    init(bytes: HTTP1Bytes, tickets: SendTickets) {
        self.bytes = bytes
        self.tickets = tickets
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        do throws(AnswerError) {
            switch unwrapInboundIn(data) {
            case .head(let head): try order.head(status: Int(head.status.code))
            case .body: try order.body()
            case .end: try order.end()
            }
        } catch {
            isRefused = true
            context.fireErrorCaught(error)
            context.close(promise: nil)
            return
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if let refusal { return context.refuse(promise, refusal) }
        guard case .head(var head) = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
        if let ticket = head.headers.first(name: SendTickets.header) {
            head.headers.remove(name: SendTickets.header)
            do throws(AddressGuard.Refusal) {
                try tickets.send(ticket, to: context.channel.remoteAddress)
            } catch {
                refusal = error
                context.refuse(promise, error)
                return context.closeLater(with: error)
            }
        }
        order.begin()
        bytes.begin(
            withValidators: head.headers.contains {
                ValidatorBytes.isSent($0.name) && !$0.value.utf8.allSatisfy { $0 < 0x80 }
            })
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }
}
