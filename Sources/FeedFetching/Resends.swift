import AsyncHTTPClient
import FeedDeclarations
import NIOCore

/// Counts how often one message is sent again at once, and decides whether it may be.
///
/// It may where it has reached no server, or the server says that it has not processed it (RFC 9113, sections 6.8 and 8.7), or
/// where it is idempotent and got no answer on a kept-alive connection (RFC 9110, section 9.2.2; RFC 9112, section 9.3.1).
struct Resends {
    /// Why a message got no answer, as far as it decides.
    enum Failure: CaseIterable {
        /// The server refuses the stream.
        case refused
        /// The server ends the connection before it processes the message.
        case unprocessed
        /// A kept-alive connection ended, or had bytes of another answer.
        case closedBeforeAnswer
        /// The pool gave a connection that was being closed.
        case closedInPool
        case other
    }

    /// The most times for a connection of no use: the pool keeps no more of them.
    static let limit = Transport.pooledConnections
    /// The most times for a server that refuses a message without a word on how to go on.
    static let refusalLimit = 8

    private let isIdempotent: Bool
    private var count = 0

    /// - Parameter method: the message's method.
    init(method: String) {
        isIdempotent = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"].contains(method)
    }

    /// Counts a failure.
    ///
    /// - Parameter isSent: true once bytes of the message have left.
    /// - Returns: true where the message is to be sent again.
    mutating func isAllowed(after failure: Failure, isSent: Bool) -> Bool {
        let limit =
            switch failure {
            case .refused: Self.refusalLimit
            case .unprocessed: Self.limit
            case .closedBeforeAnswer: isIdempotent || !isSent ? Self.limit : 0
            case .closedInPool: isSent ? 0 : Self.limit
            case .other: 0
            }
        guard count < limit else { return false }
        count += 1
        return true
    }
}

extension Resends.Failure {
    init(_ error: any Error) {
        switch error {
        case AnswerError.refused: self = .refused
        case AnswerError.unprocessed: self = .unprocessed
        case AnswerError.closedBeforeAnswer, AnswerError.leftOver: self = .closedBeforeAnswer
        // Over HTTP/2 the client calls a connection that is being closed cancelled.
        case ChannelError.ioOnClosedChannel: self = .closedInPool
        case let error as HTTPClientError where [.remoteConnectionClosed, .cancelled].contains(error):
            self = .closedInPool
        default: self = .other
        }
    }
}
