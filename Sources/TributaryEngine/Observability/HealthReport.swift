/// The health of an engine. Failing feeds do not affect it.
package struct HealthReport: Sendable, Equatable {
    package enum Finding: Sendable, Equatable {
        case good
        /// What is wrong, and what to do about it.
        case failed(String)
        /// The check timed out: the component hangs.
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

    /// The failures, in words that name no file and no server.
    package var kinds: [String] {
        (scheduler == .good ? [] : ["the scheduler hangs"])
            + (store == .good ? [] : ["the store cannot be written"])
    }

    /// True if a part of this process hangs, and a restart may help. A restart does not help against a full or hanging
    /// disk, a read-only store, or an unreachable server.
    package var mayBeCuredByRestart: Bool {
        if case .silent = scheduler { true } else { false }
    }
}
