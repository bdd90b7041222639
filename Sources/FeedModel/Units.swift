/// Reads the sizes of a configuration, and writes sizes for messages.
package enum ByteSize {
    package static let largestConfigured = "1048576GiB"

    /// Returns the bytes of `512B`, `64KiB`, `256MiB` or `1GiB`; nil for anything else, and for more than 1 PiB.
    package static func parse(_ text: String) -> Int? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let units = ["B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30]
        guard let number = Int(digits), let unit = units[String(text.dropFirst(digits.count))] else { return nil }
        let (size, overflowed) = number.multipliedReportingOverflow(by: unit)
        return overflowed || size > 1 << 50 ? nil : size
    }

    package static func text(_ size: Int) -> String {
        for (name, unit) in [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]
        where size >= unit && size % unit == 0 {
            return "\(size / unit) \(name)"
        }
        return "\(size) bytes"
    }
}

extension Duration {
    package var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
