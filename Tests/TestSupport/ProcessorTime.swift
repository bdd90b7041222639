import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What a thread uses of the processor. Waits do not count, and neither does what other tests do meanwhile, so that a
/// bound holds on a busy machine, too.
package struct ProcessorTime {
    private let start: Double

    /// Begins to count, for the thread that calls.
    package init() { start = Self.now }

    /// The seconds since the beginning; asked on the same thread.
    package var seconds: Double { Self.now - start }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
