/// Tells from samples of an exchange whether its run waits for the network, and whether its server is slow.
struct StallWatch {
    /// The time after which a run that waits lends its slot. Then it is looked at less often.
    static let firstInterval = Duration.milliseconds(100)
    static let laterInterval = Duration.milliseconds(500)
    /// A server that sends less than this many bytes in this time is slow.
    static let slowAfter = Duration.seconds(2)
    static let fewBytes = 8 << 10

    private var worked: Duration
    private var bytes: Int
    private var idle = Duration.zero
    /// True once the server has been slow.
    private(set) var isSlow = false

    /// - Parameters:
    ///   - worked: the time that the run has worked so far.
    ///   - bytes: the bytes that it has received so far.
    init(worked: Duration, bytes: Int) {
        self.worked = worked
        self.bytes = bytes
    }

    /// Takes a sample.
    ///
    /// - Parameter interval: the time since the last one.
    /// - Returns: true if the run worked for less than a quarter of it.
    mutating func isIdle(after interval: Duration, worked: Duration, bytes: Int) -> Bool {
        let isIdle = worked - self.worked < interval / 4
        self.worked = worked
        // A run that works does not wait for its server, and what it reads may have come long before.
        idle = isIdle ? idle + interval : .zero
        if idle >= Self.slowAfter, bytes - self.bytes < Self.fewBytes { isSlow = true }
        if !isIdle || idle >= Self.slowAfter {
            idle = .zero
            self.bytes = bytes
        }
        return isIdle
    }
}
