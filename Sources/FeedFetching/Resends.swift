import AsyncHTTPClient
import FeedDeclarations
import NIOCore

/// Decides whether a message without an answer is sent again at once, and counts these attempts.
///
/// It may be sent again if it reached no server, if the server reports that it has not processed it (RFC 9113, sections
/// 6.8 and 8.7), or if it is idempotent and was sent on a kept-alive connection (RFC 9110, section 9.2.2; RFC 9112,
/// section 9.3.1).
struct Resends {
    /// The reason why a message has no answer.
    enum Failure: CaseIterable {
        /// The server refused the stream.
        case refused
        /// The server ended the connection before it processed the message.
        case unprocessed
        /// A kept-alive connection ended, or had bytes of another answer.
        case closedBeforeAnswer
        /// The pool returned a connection that was being closed.
        case closedInPool
        case other
    }

    /// The most attempts after closed connections: the number of connections in the pool.
    static let limit = Transport.pooledConnections
    /// The most attempts after refusals by the server.
    static let refusalLimit = 8

    private let isIdempotent: Bool
    private(set) var count = 0

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
        // Over HTTP/2, the client reports a closing connection as cancelled.
        case ChannelError.ioOnClosedChannel: self = .closedInPool
        case let error as HTTPClientError where [.remoteConnectionClosed, .cancelled].contains(error):
            self = .closedInPool
        default: self = .other
        }
    }
}
