/// What happened in a simulation, as a digest: two that are alike have the same.
package struct Trace {
    /// Called with each line; nil where lines are only kept.
    private let show: ((String) -> Void)?
    /// FNV-1a.
    package private(set) var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    package private(set) var lines: [String] = []
    /// The digest after each line.
    package private(set) var digests: [UInt64] = []

    init(show: ((String) -> Void)?) { self.show = show }

    mutating func add(_ value: UInt64) {
        digest = (digest ^ value) &* 0x100_0000_01B3
    }

    mutating func add(_ time: Duration, _ process: Int, _ text: () -> String) {
        let text = text()
        for byte in text.utf8 { add(UInt64(byte)) }
        lines.append("\(Self.written(time)) \(process == 0 ? "-" : "p\(process)") \(text)")
        show?(lines[lines.count - 1])
        digests.append(digest)
    }

    /// Writes a time as `1:02:03.004`.
    static func written(_ time: Duration) -> String {
        let (seconds, attoseconds) = time.components
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let thousandths = "\(1000 + attoseconds / 1_000_000_000_000_000)".dropFirst()
        return "\(seconds / 3600):\(two(seconds / 60 % 60)):\(two(seconds % 60)).\(thousandths)"
    }
}
