import NIOCore

/// A handler between a socket, or its TLS, and the HTTP/1 codec. Carries validators byte for byte, and detects a
/// connection that is closed without an answer.
final class HTTP1Bytes: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private var validators = ValidatorBytes()
    private var requests = 0
    private var waitsForAnswer = false
    private var hasValidatorsToSend = false
    /// True from the end of an answer until the next request.
    private var isIdle = false

    /// True if the connection has served an earlier request.
    var isReused: Bool { requests > 1 }

    /// Prepares for a request whose head is about to be written.
    func begin(withValidators hasValidators: Bool) {
        isIdle = false
        requests += 1
        waitsForAnswer = true
        hasValidatorsToSend = hasValidators
        validators.expectHead()
    }

    /// Notes that the answer is complete.
    func end() { isIdle = true }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        waitsForAnswer = false
        // Without a request, further bytes would be taken for the next answer. An extra empty line is allowed (RFC
        // 9112, section 2.2).
        if isIdle, unwrapInboundIn(data).readableBytesView.contains(where: { $0 != 0x0D && $0 != 0x0A }) {
            return context.close(promise: nil)
        }
        context.fireChannelRead(wrapInboundOut(validators.receive(unwrapInboundIn(data))))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard hasValidatorsToSend, case .byteBuffer(let head) = unwrapOutboundIn(data) else {
            return context.write(data, promise: promise)
        }
        hasValidatorsToSend = false
        context.write(wrapOutboundOut(.byteBuffer(ValidatorBytes.send(head))), promise: promise)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.fireErrorCaught(error is IOError && isClosedBeforeAnswer() ? AnswerError.closedBeforeAnswer : error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if isClosedBeforeAnswer() { context.fireErrorCaught(AnswerError.closedBeforeAnswer) }
        context.fireChannelInactive()
    }

    /// Returns true if the connection has served an earlier request and no byte of this answer has come.
    private func isClosedBeforeAnswer() -> Bool {
        defer { waitsForAnswer = false }
        return waitsForAnswer && isReused
    }
}
