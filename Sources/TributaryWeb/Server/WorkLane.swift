import DequeModule
import Foundation
import FeedModel

/// Blocking work on threads of its own, a few pieces at a time. A dispatch queue's threads would be those on which Swift's
/// tasks run.
final class WorkLane: Sendable {
    /// Too many wait.
    struct Full: Error {}
    /// It has ended.
    struct Closed: Error {}

    private struct Piece {
        /// Does the work, and returns what tells whoever waits for it.
        var work: @Sendable () -> @Sendable () -> Void
        var refuse: @Sendable (any Error) -> Void
    }

    private struct State {
        var running = 0
        /// Those that have not begun, in the order in which they came.
        var waiting: Deque<Int> = []
        /// All that somebody waits for, by their numbers.
        var pieces: [Int: Piece] = [:]
        var lastID = 0
        /// Pieces whose task was cancelled before they came.
        var cancelled: Set<Int> = []
        var isClosed = false
    }

    private let name: String
    private let width: Int
    private let mostWaiting: Int
    private let state = Mutex(State())

    init(_ name: String, width: Int, mostWaiting: Int) {
        self.name = name
        self.width = width
        self.mostWaiting = mostWaiting
    }

    /// The number of pieces that have not begun.
    var waiting: Int { state.withLock(\.waiting.count) }

    /// Does a piece of work, behind those that came before. Work that has begun goes on when its task is cancelled, but
    /// nobody waits for it any more.
    ///
    /// - Throws: ``Full``, ``Closed``, `CancellationError`, the body's errors.
    func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        defer { state.withLock { _ = $0.cancelled.remove(id) } }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let piece = Piece {
                    let result = Result { try body() }
                    return { continuation.resume(with: result) }
                } refuse: {
                    continuation.resume(throwing: $0)
                }
                add(piece, id)
            }
        } onCancel: {
            cancel(id)
        }
    }

    /// Begins nothing more, and lets nobody wait any longer.
    func close() {
        let pieces = state.withLock { state in
            state.isClosed = true
            state.waiting = []
            defer { state.pieces = [:] }
            return state.pieces.values
        }
        for piece in pieces { piece.refuse(Closed()) }
    }

    private func add(_ piece: Piece, _ id: Int) {
        let (begins, refusal): (Bool, (any Error)?) = state.withLock { state in
            if state.isClosed { return (false, Closed()) }
            if state.cancelled.contains(id) { return (false, CancellationError()) }
            let begins = state.running < width
            guard begins || state.waiting.count < mostWaiting else { return (false, Full()) }
            state.pieces[id] = piece
            if begins { state.running += 1 } else { state.waiting.append(id) }
            return (begins, nil)
        }
        if let refusal { piece.refuse(refusal) }
        guard begins else { return }
        let thread = Thread { [self] in work(piece, id) }
        thread.name = name
        thread.start()
    }

    /// Does one piece after another, until none waits.
    private func work(_ first: Piece, _ id: Int) {
        var next: (piece: Piece, id: Int)? = (first, id)
        while let (piece, id) = next {
            let tell = piece.work()
            let isAwaited: Bool
            (isAwaited, next) = state.withLock { state in
                let isAwaited = state.pieces.removeValue(forKey: id) != nil
                let following = state.waiting.popFirst().flatMap { id in state.pieces[id].map { (piece: $0, id: id) } }
                if following == nil { state.running -= 1 }
                return (isAwaited, following)
            }
            if isAwaited { tell() }
        }
    }

    private func cancel(_ id: Int) {
        let piece: Piece? = state.withLock { state in
            guard let piece = state.pieces.removeValue(forKey: id) else {
                state.cancelled.insert(id)
                return nil
            }
            state.waiting.removeAll { $0 == id }
            return piece
        }
        piece?.refuse(CancellationError())
    }
}
