import NIOCore
import Synchronization

/// A large body's next pieces, received while the parser works on the last ones.
///
/// Pieces are some 64 KiB, and each that is awaited costs the parser a change of threads. Here a child task awaits them,
/// and the parser takes all that have come; it waits only where there are none, and the child only where there are many.
final class ReadAhead: Sendable {
    /// Together with what the parser has taken, twice this is held in memory.
    static let capacity = 512 << 10

    private struct State {
        var pieces: [ByteBuffer] = []
        var bytes = 0
        var end: Result<Void, any Error>?
        var reader: CheckedContinuation<Void, Never>?
        var writer: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Hands pieces over until there are no more.
    func fill<Pieces: AsyncSequence>(from pieces: Pieces) async where Pieces.Element == ByteBuffer {
        do {
            for try await piece in pieces {
                put(piece)
                await waitForRoom()
                try Task.checkCancellation()
            }
            try Task.checkCancellation()
            end(.success(()))
        } catch {
            end(.failure(error))
        }
    }

    /// What has come since, at least one piece; none at the body's end.
    ///
    /// - Throws: what the sequence of pieces throws.
    func next(isolation: isolated (any Actor)? = #isolation) async throws -> [ByteBuffer] {
        while true {
            let (pieces, end, writer) = state.withLock { state in
                defer {
                    state.pieces = []
                    state.bytes = 0
                    state.writer = nil
                }
                return (state.pieces, state.end, state.writer)
            }
            writer?.resume()
            if !pieces.isEmpty { return pieces }
            if let end {
                try end.get()
                return []
            }
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    guard state.pieces.isEmpty, state.end == nil else { return true }
                    state.reader = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        }
    }

    private func put(_ piece: ByteBuffer) {
        let reader = state.withLock { state in
            state.pieces.append(piece)
            state.bytes += piece.readableBytes
            return state.reader.take()
        }
        reader?.resume()
    }

    private func end(_ result: Result<Void, any Error>) {
        let reader = state.withLock { state in
            state.end = result
            return state.reader.take()
        }
        reader?.resume()
    }

    private func waitForRoom() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let hasRoom = state.withLock { state in
                    guard state.bytes >= Self.capacity, !Task.isCancelled else { return true }
                    state.writer = continuation
                    return false
                }
                if hasRoom { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.writer.take() }?.resume()
        }
    }
}
