/// A date, or a date with a time, in an order that ISO 8601 does not have: `18.02.2019`, `2/18/2019 14:30`.
struct LocalDate {
    struct Orders: OptionSet {
        let rawValue: UInt8

        static let dayFirst = Orders(rawValue: 1)
        static let monthFirst = Orders(rawValue: 2)
        static let yearFirst = Orders(rawValue: 4)
    }

    /// The orders in which the text is a date.
    private(set) var orders: Orders = []
    private let separator: UInt8
    /// What follows the day: a space or `T`, and how many numbers the time has; nil where there is no time.
    private let time: Time?

    private struct Time: Equatable {
        var mark: UInt8
        var parts: Int
    }

    /// - Returns: nil for a text that is no such date.
    init?(_ text: UnsafeBufferPointer<UInt8>) {
        guard (8...19).contains(text.count) else { return nil }
        let end = text.firstIndex { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "T") } ?? text.endIndex
        let day = text[..<end]
        guard let mark = day.first(where: { !Self.isDigit($0) }),
            [UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "-")].contains(mark),
            let parts = Self.numbers(day, mark), parts.count == 3
        else { return nil }
        separator = mark
        if end < text.endIndex {
            guard let numbers = Self.numbers(text[(end + 1)...], UInt8(ascii: ":")), (2...3).contains(numbers.count),
                numbers.allSatisfy({ $0.digits == 2 }), numbers[0].value < 24,
                numbers[1...].allSatisfy({ $0.value < 60 })
            else { return nil }
            time = Time(mark: text[end], parts: numbers.count)
        } else {
            time = nil
        }
        let isShort = parts.map { $0.digits <= 2 }
        let values = parts.map(\.value)
        if isShort[0], isShort[1], parts[2].digits == 4 {
            if Self.exists(values[2], values[1], values[0]) { orders.insert(.dayFirst) }
            // Nobody writes points after a month that comes first.
            if mark != UInt8(ascii: "."), Self.exists(values[2], values[0], values[1]) { orders.insert(.monthFirst) }
        } else if parts[0].digits == 4, isShort[1], isShort[2], Self.exists(values[0], values[1], values[2]) {
            orders.insert(.yearFirst)
        }
        if orders.isEmpty { return nil }
    }

    /// Returns the orders in which both are dates; nil where there is none.
    func intersection(_ other: LocalDate) -> LocalDate? {
        var both = self
        both.orders.formIntersection(other.orders)
        return both.orders.isEmpty || separator != other.separator || time != other.time ? nil : both
    }

    var hasTime: Bool { time != nil }

    /// The formats of the orders, of which more than one is possible where no day is above 12.
    var formats: [String] {
        let mark = String(Character(Unicode.Scalar(separator)))
        let orders: [(Orders, [String])] = [
            (.dayFirst, ["%d", "%m", "%Y"]), (.monthFirst, ["%m", "%d", "%Y"]), (.yearFirst, ["%Y", "%m", "%d"]),
        ]
        let clock = time.map {
            String(Character(Unicode.Scalar($0.mark))) + ["%H", "%M", "%S"].prefix($0.parts).joined(separator: ":")
        }
        return orders.filter { self.orders.contains($0.0) }.map { $0.1.joined(separator: mark) + (clock ?? "") }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    /// Returns the numbers of at most four digits between marks.
    private static func numbers(
        _ text: Slice<UnsafeBufferPointer<UInt8>>, _ mark: UInt8
    ) -> [(value: Int, digits: Int)]? {
        var numbers: [(value: Int, digits: Int)] = []
        for part in text.split(separator: mark, omittingEmptySubsequences: false) {
            guard (1...4).contains(part.count), part.allSatisfy(isDigit) else { return nil }
            numbers.append((part.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }, part.count))
        }
        return numbers
    }

    private static func exists(_ year: Int, _ month: Int, _ day: Int) -> Bool {
        guard (1...12).contains(month), day >= 1, year >= 1 else { return false }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return day <= [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
    }
}
