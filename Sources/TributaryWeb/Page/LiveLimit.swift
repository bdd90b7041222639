import Locking

/// Limits the pages that are kept up to date at the same time.
final class LiveLimit: Sendable {
    private static let most = 64

    private let count = Mutex(0)

    /// A place, which is free again when nothing refers to it any more.
    final class Place: Sendable {
        private let limit: LiveLimit

        fileprivate init(_ limit: LiveLimit) { self.limit = limit }

        deinit { limit.count.withLock { $0 -= 1 } }
    }

    /// - Returns: nil where there is no place.
    func place() -> Place? {
        let isFree = count.withLock { count in
            guard count < Self.most else { return false }
            count += 1
            return true
        }
        return isFree ? Place(self) : nil
    }
}
