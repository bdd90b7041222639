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
