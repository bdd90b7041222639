/// Detects from samples of an exchange that its run waits for the network, or that its server is slow.
struct StallWatch {
    /// The time after which a waiting run releases its slot. Later samples are less frequent.
    static let firstInterval = Duration.milliseconds(100)
    static let laterInterval = Duration.milliseconds(500)
    /// A server is slow if it sends less than this many bytes in this time.
    static let slowAfter = Duration.seconds(2)
    static let fewBytes = 8 << 10

    private var worked: Duration
    private var bytes: Int
    private var idle = Duration.zero
    /// True once the server has been slow.
    private(set) var isSlow = false

    /// - Parameters:
    ///   - worked: the working time of the run so far.
    ///   - bytes: the bytes received so far.
    init(worked: Duration, bytes: Int) {
        self.worked = worked
        self.bytes = bytes
    }

    /// Takes a sample.
    ///
    /// - Parameter interval: the time since the last sample.
    /// - Returns: true if the run worked for less than a quarter of it.
    mutating func isIdle(after interval: Duration, worked: Duration, bytes: Int) -> Bool {
        let isIdle = worked - self.worked < interval / 4
        self.worked = worked
        // A working run does not wait for its server, and may read bytes that arrived earlier.
        idle = isIdle ? idle + interval : .zero
        if idle >= Self.slowAfter, bytes - self.bytes < Self.fewBytes { isSlow = true }
        if !isIdle || idle >= Self.slowAfter {
            idle = .zero
            self.bytes = bytes
        }
        return isIdle
    }
}
