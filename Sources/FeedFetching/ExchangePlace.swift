import Synchronization

/// The place of an exchange at the host that is asked: another one where that redirects to another host.
package final class ExchangePlace: Sendable {
    /// The place of the exchange under way; nil where none is needed.
    @TaskLocal package static var current: ExchangePlace?

    private let limiter: HostLimiter
    private let mayWait: Bool
    private let uptime: @Sendable () -> Duration
    private let place: Mutex<HostLimiter.Place?>

    /// - Parameters:
    ///   - mayWait: false for one of several exchanges of a run. Its run holds other places, and so must not wait for one
    ///     more, as every run might do so: at another host it takes a place over the limit.
    ///   - uptime: the time since some fixed moment.
    package init(
        _ place: HostLimiter.Place, of limiter: HostLimiter, mayWait: Bool, uptime: @escaping @Sendable () -> Duration
    ) {
        self.limiter = limiter
        self.mayWait = mayWait
        self.uptime = uptime
        self.place = Mutex(place)
    }

    /// Gives the place back. The exchange is over.
    package func release() {
        let former = place.withLock { place in
            defer { place = nil }
            return place
        }
        // Outside of the lock, as whoever waits for it is told.
        withExtendedLifetime(former) {}
    }

    /// Takes a place at the host that is to be asked, if it is another one, and gives up the former.
    ///
    /// - Parameter progress: told of the wait, which is not the exchange's.
    /// - Throws: `CancellationError`.
    func move(to origin: String, _ progress: ExchangeProgress?) async throws {
        var former = place.withLock(\.self)
        if let key = former?.key, limiter.countsAlike(key, origin) { return }
        place.withLock { $0 = nil }
        // Given up first: those who wait at each other's hosts would wait for ever.
        former = nil
        let next: HostLimiter.Place
        if mayWait {
            progress?.pause(at: uptime())
            defer { progress?.resume(at: uptime()) }
            next = try await limiter.place(at: origin)
        } else {
            next = limiter.placeRegardless(at: origin)
        }
        place.withLock { $0 = next }
    }
}
