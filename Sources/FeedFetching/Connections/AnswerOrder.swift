import NIOCore

/// Checks the order of an answer's parts: interim heads, a head, pieces of a body, an end. async-http-client traps on
/// any other order.
struct AnswerOrder {
    private enum Place {
        case head, body, over
    }

    private var place = Place.over
    private var interimHeads = 0

    /// True before the first part of an answer.
    var waitsForHead: Bool { place == .head && interimHeads == 0 }

    /// Resets the order for the answer to a new request.
    mutating func begin() {
        place = .head
        interimHeads = 0
    }

    /// - Throws: ``AnswerError``.
    mutating func head(status: Int) throws(AnswerError) {
        guard (100...999).contains(status) else { throw .status }
        guard place == .head else { throw .order }
        guard status != 101 else { throw .switchesProtocols }
        if status < 200 {
            interimHeads += 1
            guard interimHeads <= AnswerError.interimLimit else { throw .tooManyInterimHeads }
        } else {
            place = .body
        }
    }

    /// - Throws: ``AnswerError``.
    func body() throws(AnswerError) {
        guard place == .body else { throw .order }
    }

    /// - Throws: ``AnswerError``.
    mutating func end() throws(AnswerError) {
        guard place == .body else { throw .order }
        place = .over
    }
}

/// The reason to refuse a connection's answer: it would trap in NIO or async-http-client, or it violates HTTP.
enum AnswerError: Error, Equatable, CustomStringConvertible {
    /// The connection had served an earlier request and ended before the first byte of this answer.
    case closedBeforeAnswer
    /// The connection had served an earlier request, and the received bytes belong to no request.
    case leftOver
    /// An invalid status: not a number, or not from 100 to 999.
    case status
    /// Status 101, although the request named no other protocol (RFC 9110, section 15.2.2).
    case switchesProtocols
    /// Too many interim heads before the answer's own (RFC 9110, section 15.2).
    case tooManyInterimHeads
    /// A body or an end without a head, or a head out of place.
    case order

    /// The most interim heads of an answer.
    static let interimLimit = 100

    var description: String {
        switch self {
        case .closedBeforeAnswer: "the server closed a kept-alive connection instead of answering"
        case .leftOver: "a kept-alive connection brought bytes that are not a response"
        case .status: "the response's status is not a number from 100 to 999"
        case .switchesProtocols: "the response's status is 101, but no other protocol was requested"
        case .tooManyInterimHeads: "more than \(Self.interimLimit) interim answers (1xx) came before the answer"
        case .order: "the parts of the response come in an order that HTTP does not allow"
        }
    }
}

/// Refusal of a request in a handler. It is deferred, because async-http-client is still writing the request, and must
/// not receive an error meanwhile.
extension ChannelHandlerContext {
    /// Drops the write.
    func refuse(_ promise: EventLoopPromise<Void>?, _ error: any Error) {
        guard let promise else { return }
        eventLoop.assumeIsolated().execute { promise.fail(error) }
    }

    /// Passes an error to the next handler, and closes the channel.
    func closeLater(with error: any Error) {
        eventLoop.assumeIsolated().execute { [self] in
            fireErrorCaught(error)
            close(promise: nil)
        }
    }
}
