import Dispatch
import FeedModel
import NIOCore

/// Receives a body's next pieces while the parser reads earlier ones.
///
/// Pieces have about 64 KiB, and each await costs the parser a change of threads. Therefore a child task, or a thread
/// for a source that blocks, receives the pieces, and the parser takes all received ones. The parser waits only without
/// pieces, and the receiver only with many.
final class ReadAhead: Sendable {
    /// The bytes after which the receiver waits. With the parser's pieces, memory holds at most twice as many.
    static let capacity = 512 << 10

    private struct State {
        var pieces: [ByteBuffer] = []
        var bytes = 0
        var end: Result<Void, any Error>?
        var reader: CheckedContinuation<Void, Never>?
        /// Resumes the receiver that waits for room.
        var writer: (@Sendable () -> Void)?
        /// True once the parser takes no more pieces.
        var isAbandoned = false
    }

    private let state = Mutex(State())

    /// Stores the pieces for the parser until the sequence ends.
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

    /// Stores the pieces of a source that blocks its thread. Blocks the thread, too, while there are many pieces.
    func fill(from source: any BodySource) {
        end(
            Result {
                try source.forEachPiece(check: check) { piece in
                    guard !piece.isEmpty else { return }
                    put(ByteBuffer(bytes: piece))
                    blockUntilRoom()
                    try check()
                }
            })
    }

    /// Ends the waits of the parser and the receiver, because no more pieces are needed.
    func abandon() {
        let (reader, writer) = state.withLock { state in
            state.isAbandoned = true
            state.end = state.end ?? .failure(CancellationError())
            return (state.reader.take(), state.writer.take())
        }
        reader?.resume()
        writer?()
    }

    /// - Throws: `CancellationError` once the parser takes no more pieces.
    private func check() throws { if state.withLock(\.isAbandoned) { throw CancellationError() } }

    /// Returns the pieces received since the last call, at least one; none at the body's end.
    ///
    /// - Throws: the errors of the sequence of pieces.
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
            writer?()
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

    /// Passes the pieces to `consume` until the body's end.
    ///
    /// - Throws: the errors of the receiver and of `consume`; `CancellationError`.
    func forEachPiece(
        isolation: isolated (any Actor)? = #isolation, _ consume: (UnsafeRawBufferPointer) throws -> Void
    ) async throws {
        while case let pieces = try await next(), !pieces.isEmpty {
            for piece in pieces {
                try Task.checkCancellation()
                try piece.withUnsafeReadableBytes(consume)
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
                    state.writer = { continuation.resume() }
                    return false
                }
                if hasRoom { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.writer.take() }?()
        }
    }

    private func blockUntilRoom() {
        let room = DispatchSemaphore(value: 0)
        let hasRoom = state.withLock { state in
            guard state.bytes >= Self.capacity, !state.isAbandoned else { return true }
            state.writer = { room.signal() }
            return false
        }
        if !hasRoom { room.wait() }
    }
}
