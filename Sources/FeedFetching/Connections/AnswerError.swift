import NIOCore

/// The reason to refuse a connection's answer: the libraries below would trap on it, or it makes no sense.
enum AnswerError: Error, Equatable, CustomStringConvertible {
    /// The connection had served an earlier request and broke before any byte of this answer came.
    case closedBeforeAnswer
    /// The server goes away, and says that it has not processed the request (RFC 9113, section 6.8).
    case unprocessed
    /// The server refused the request before it processed it (RFC 9113, section 8.7).
    case refused
    /// The connection had served an earlier request, and what came on it then is no answer to this one.
    case leftOver
    /// An invalid status: not a number, or not from 100 to 999.
    case status
    /// Status 101, though no other protocol was asked for (RFC 9110, section 15.2.2).
    case switchesProtocols
    /// Too many interim heads before the answer's own (RFC 9110, section 15.2).
    case tooManyInterimHeads
    /// A body or an end without a head, or a head out of place.
    case order

    /// The most interim heads of an answer; with more, it is refused.
    static let interimLimit = 100

    var description: String {
        switch self {
        case .closedBeforeAnswer: "the server closed a kept-alive connection instead of answering"
        case .unprocessed: "the server repeatedly closed the connection before it accepted the request (GOAWAY)"
        case .refused: "the server repeatedly refused the request (REFUSED_STREAM)"
        case .leftOver: "a kept-alive connection brought bytes that are not a response"
        case .status: "the response's status is not a number from 100 to 999"
        case .switchesProtocols: "the response's status is 101, but no other protocol was requested"
        case .tooManyInterimHeads: "more than \(Self.interimLimit) interim answers (1xx) came before the answer"
        case .order: "the parts of the response come in an order that HTTP does not allow"
        }
    }
}

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
