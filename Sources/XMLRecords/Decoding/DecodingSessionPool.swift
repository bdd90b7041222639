import Locking

/// The sessions that a decoder is not using at the moment, ready for reuse.
final class DecodingSessionPool: Sendable {
    /// A session and its memory, passed from one call to the next.
    ///
    /// `@unchecked Sendable`: a session is either in the pool or used by one call, never both.
    private struct Spare: @unchecked Sendable {
        let session: DecodingSession
    }

    /// The most names, and the most bytes in a record, with which a session is kept.
    private static let nameLimit = 2_000
    private static let byteLimit = 1 << 20

    private let spares = Mutex<[Spare]>([])

    func withSession<Result>(
        _ userInfo: [CodingUserInfoKey: any Sendable], _ body: (DecodingSession) throws -> Result
    ) rethrows -> Result {
        let session = spares.withLock { $0.popLast() }?.session ?? DecodingSession(userInfo: userInfo)
        defer {
            if session.tree.names.count <= Self.nameLimit, session.tree.byteCount <= Self.byteLimit {
                spares.withLock { if $0.count < 4 { $0.append(Spare(session: session)) } }
            }
        }
        return try body(session)
    }
}
