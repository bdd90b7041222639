import AsyncHTTPClient
import FeedConfiguration
import NIOCore

/// Decides whether a message without an answer is sent again at once, and counts these attempts.
///
/// It may be sent again if it reached no server, or if it is idempotent and was sent on a kept-alive connection (RFC
/// 9110, section 9.2.2; RFC 9112, section 9.3.1).
struct Resends {
    /// The reason why a message has no answer.
    enum Failure: CaseIterable {
        /// A kept-alive connection ended, or had bytes of another answer.
        case closedBeforeAnswer
        /// The pool returned a connection that was being closed.
        case closedInPool
        case other
    }

    /// The most attempts after closed connections: the number of connections in the pool.
    static let limit = Transport.pooledConnections

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
        case AnswerError.closedBeforeAnswer, AnswerError.leftOver: self = .closedBeforeAnswer
        case ChannelError.ioOnClosedChannel: self = .closedInPool
        case let error as HTTPClientError where error == .remoteConnectionClosed: self = .closedInPool
        default: self = .other
        }
    }
}
