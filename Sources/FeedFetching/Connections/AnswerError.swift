/// Why a connection's answer is not taken: what the libraries below would not survive, or what nobody means.
enum AnswerError: Error, Equatable, CustomStringConvertible {
    /// The connection had served a request before, and broke before a byte of the answer to this one came.
    case closedBeforeAnswer
    /// A status that is none: not from 100 to 999, or not a number.
    case status
    /// 101, though no other protocol was asked for (RFC 9110, section 15.2.2).
    case switchesProtocols
    /// Too many of the heads that come before the answer's own (RFC 9110, section 15.2).
    case tooManyInterimHeads
    /// A body or an end without a head, or a head where none can be.
    case order

    /// An answer with more interim heads is refused.
    static let interimLimit = 100

    var description: String {
        switch self {
        case .closedBeforeAnswer: "the server closed a kept-alive connection instead of answering"
        case .status: "the answer's status is not a number from 100 to 999"
        case .switchesProtocols: "the answer's status is 101, though no other protocol was asked for"
        case .tooManyInterimHeads: "more than \(Self.interimLimit) interim answers (1xx) came before the answer"
        case .order: "the answer's parts come in an order that HTTP does not allow"
        }
    }
}
