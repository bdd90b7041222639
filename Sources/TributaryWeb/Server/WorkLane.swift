import DequeModule
import Foundation
import Synchronization

/// Blocking work on threads of its own, a few pieces at a time. A dispatch queue's threads would be those on which Swift's
/// tasks run.
final class WorkLane: Sendable {
    /// Too many wait.
    struct Full: Error {}

    private struct Piece {
        var id: Int
        var work: @Sendable () -> Void
        var refuse: @Sendable (any Error) -> Void
    }

    private struct State {
        var running = 0
        var waiting: Deque<Piece> = []
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

    /// Does a piece of work, behind those that came before.
    ///
    /// - Throws: ``Full``; `CancellationError` where it had not begun by then; the body's errors.
    func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        defer { state.withLock { _ = $0.cancelled.remove(id) } }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                add(
                    Piece(
                        id: id, work: { continuation.resume(with: Result { try body() }) },
                        refuse: { continuation.resume(throwing: $0) }))
            }
        } onCancel: {
            cancel(id)
        }
    }

    /// Begins nothing more. What runs ends.
    func close() {
        let waiting = state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for piece in waiting { piece.refuse(CancellationError()) }
    }

    private func add(_ piece: Piece) {
        let (begins, refusal): (Bool, (any Error)?) = state.withLock { state in
            if state.isClosed || state.cancelled.contains(piece.id) { return (false, CancellationError()) }
            if state.running < width {
                state.running += 1
                return (true, nil)
            }
            guard state.waiting.count < mostWaiting else { return (false, Full()) }
            state.waiting.append(piece)
            return (false, nil)
        }
        if let refusal { piece.refuse(refusal) }
        guard begins else { return }
        let thread = Thread { [self] in work(piece) }
        thread.name = name
        thread.start()
    }

    /// Does one piece after another, until none waits.
    private func work(_ first: Piece) {
        var next: Piece? = first
        while let piece = next {
            piece.work()
            next = state.withLock { state in
                guard let following = state.waiting.popFirst() else {
                    state.running -= 1
                    return nil
                }
                return following
            }
        }
    }

    private func cancel(_ id: Int) {
        let piece: Piece? = state.withLock { state in
            guard let index = state.waiting.firstIndex(where: { $0.id == id }) else {
                state.cancelled.insert(id)
                return nil
            }
            return state.waiting.remove(at: index)
        }
        piece?.refuse(CancellationError())
    }
}
