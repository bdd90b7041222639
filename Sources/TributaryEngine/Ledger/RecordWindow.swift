import FeedModel

/// Batches the records of unchanged polls, so that one transaction writes several.
///
/// The first record opens a window of a fixed length. If the process dies within it, its polls are lost and repeated.
/// The claims of their sources last until the records are in the store.
package final class RecordWindow: Sendable {
    package static let length = Duration.seconds(1)
    /// The most records that wait. Each has a claim, which is an open file on SQLite.
    static let mostRecords = 256

    /// The records that wait for the end of the open window; nil without one.
    private let waiting = Mutex<[CheckedContinuation<Void, Never>]?>(nil)
    private let clock: any RunClock
    private let length: Duration

    init(_ clock: any RunClock, length: Duration = RecordWindow.length) {
        self.clock = clock
        self.length = length
    }

    /// The number of records that wait for the end of the open window, excluding the one that opened it.
    var count: Int { waiting.withLock { $0?.count ?? 0 } }

    /// Returns at the end of the window. It ends early when the task that opened it is cancelled. The others end early when
    /// they are ``mostRecords``.
    func end() async {
        let isOpen = waiting.withLock { waiting in
            defer { waiting = waiting ?? [] }
            return waiting != nil
        }
        if isOpen {
            await withCheckedContinuation { continuation in
                let ended = waiting.withLock { waiting -> [CheckedContinuation<Void, Never>] in
                    guard waiting != nil else { return [continuation] }
                    waiting?.append(continuation)
                    guard let all = waiting, all.count >= Self.mostRecords else { return [] }
                    waiting = []
                    return all
                }
                for record in ended { record.resume() }
            }
        } else {
            try? await clock.sleep(for: length)
            let others = waiting.withLock { waiting in
                defer { waiting = nil }
                return waiting ?? []
            }
            for other in others { other.resume() }
        }
    }
}
