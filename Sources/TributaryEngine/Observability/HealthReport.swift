/// Whether an engine does its work. That a feed fails is no matter of it.
package struct HealthReport: Sendable, Equatable {
    package enum Finding: Sendable, Equatable {
        case good
        /// What is wrong, and what to do about it.
        case failed(String)
        /// There was no answer: something stands still.
        case silent(String)

        package var problem: String? {
            switch self {
            case .good: nil
            case .failed(let text), .silent(let text): text
            }
        }
    }

    package var scheduler: Finding
    package var store: Finding

    package var isGood: Bool { problems.isEmpty }

    package var problems: [String] { [scheduler, store].compactMap(\.problem) }

    /// What is wrong, in words that name no file and no server.
    package var kinds: [String] {
        (scheduler == .good ? [] : ["the scheduler hangs"])
            + (store == .good ? [] : ["the store cannot be written"])
    }

    /// True where something of this process stands still, and may go on once it is started again. A disk that is full or
    /// hangs, a store that only reads, or a server that is away, whether it says so or not, stays what it is.
    package var mayBeCuredByRestart: Bool {
        if case .silent = scheduler { true } else { false }
    }
}
