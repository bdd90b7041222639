import FeedConfiguration
import XMLStream

/// How the values of a column are written, where its type does not say it.
struct ValueWriting {
    /// Keys of the column, with their values in TOML.
    var keys: [(name: String, value: String)] = []
    /// A value that shows it.
    var example: String
    /// What else the values may be; nil where they can be only this.
    var doubt: String?

    var comment: String { doubt ?? "as in \(example)" }
}

/// What the values of a column have in common that are numbers or dates in a local notation.
struct LocalForms {
    private var numbers = NumberStyles.all
    /// The numbers of digits in the values' fractions, where a comma or a point is the decimal mark.
    private var comma = DecimalPlaces()
    private var point = DecimalPlaces()
    private var hasNumber = false
    /// The formats in which every value is a date.
    private var dates = LocalDates.formats
    private var count = 0
    /// The last value that has ruled something out.
    private var example = ""

    /// False where no further value changes anything.
    var isOpen: Bool { !numbers.isEmpty || !dates.isEmpty }

    /// - Parameter number: the value as a plain number, where it is one.
    mutating func add(_ text: UnsafeBufferPointer<UInt8>, plain number: NumberText?) {
        defer { count += 1 }
        if !numbers.isEmpty { addNumber(text, number) }
        guard !dates.isEmpty else { return }
        let possible = dates.count
        if number == nil, LocalDates.mayHold(text) {
            dates.removeAll { $0.date(text) == nil }
        } else {
            dates = []
        }
        if !dates.isEmpty, dates.count < possible { keep(text) }
    }

    private mutating func addNumber(_ text: UnsafeBufferPointer<UInt8>, _ plain: NumberText?) {
        let local = plain == nil ? LocalNumber(text) : nil
        if local != nil { hasNumber = true }
        comma.add(local?.decimals(after: UInt8(ascii: ",")))
        point.add(plain?.decimals ?? local?.decimals(after: UInt8(ascii: ".")))
        let found = plain?.styles ?? local?.styles ?? []
        if !numbers.isSubset(of: found) { keep(text) }
        numbers.formIntersection(found)
    }

    private mutating func keep(_ text: UnsafeBufferPointer<UInt8>) { example = String(decoding: text, as: UTF8.self) }

    mutating func merge(_ other: LocalForms) {
        guard other.count > 0 else { return }
        guard count > 0 else { return self = other }
        count += other.count
        numbers.formIntersection(other.numbers)
        comma.merge(other.comma)
        point.merge(other.point)
        hasNumber = hasNumber || other.hasNumber
        dates.removeAll { !other.dates.contains($0) }
    }

    /// The type of the values and how they are written; nil where they are nothing but texts. Values that may be of more
    /// than one kind are text, and the writing says so.
    var type: (type: ValueType, writing: ValueWriting)? {
        guard count > 0 else { return nil }
        if hasNumber, !numbers.isEmpty { return numberType }
        guard let first = dates.first?.pattern else { return nil }
        let type: ValueType = first.contains("%H") ? .datetime : .date
        var writing = ValueWriting(keys: [("format", TOMLText.string(first))], example: example)
        guard dates.count > 1 else { return (type, writing) }
        writing.keys = []
        let formats = dates.map { TOMLText.string($0.pattern) }.joined(separator: " or ")
        writing.doubt = "\(example): day or month first? type = \"\(type.rawValue)\", format = \(formats)"
        return (.text, writing)
    }

    private var numberType: (ValueType, ValueWriting) {
        let isComma = !numbers.isDisjoint(with: .comma)
        let isPoint = !numbers.isDisjoint(with: .point)
        var writing = ValueWriting(example: example)
        if isComma, isPoint, comma.most > 0 || point.most > 0 {
            writing.doubt =
                "\(example): a fraction, or thousands? type = \"decimal\", decimal_separator = \",\" or group_separator = \",\""
            return (.text, writing)
        }
        // Without a fraction, the mark before one decides nothing.
        let fraction = isPoint ? point : comma
        if !isPoint { writing.keys.append(("decimal_separator", TOMLText.string(","))) }
        if let group = numbers.intersection(isPoint ? .point : .comma).group {
            writing.keys.append(("group_separator", TOMLText.string(String(group))))
        }
        return (fraction.most == 0 ? .integer : fraction.areDecimal ? .decimal : .real, writing)
    }
}

/// Dates, with a time or without, in an order that ISO 8601 does not have: `18.02.2019`, `2/18/2019 14:30`.
private enum LocalDates {
    /// The formats. A text fits more than one where no day is above 12.
    static let formats: [DateFormat] = ["", " %H:%M", " %H:%M:%S", "T%H:%M", "T%H:%M:%S"].flatMap { time in
        [".", "/", "-"].flatMap { mark in
            // Nobody writes points after a month that comes first.
            [["%d", "%m", "%Y"], ["%m", "%d", "%Y"], ["%Y", "%m", "%d"]].filter { mark != "." || $0[0] != "%m" }
                .compactMap { DateFormat($0.joined(separator: mark) + time) }
        }
    }

    /// True for a text that may be of one of the formats, in which the year has all its digits: a format would take two
    /// digits for a year of the first century.
    static func mayHold(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard (8...19).contains(text.count) else { return false }
        var digits = 0
        for byte in text where digits < 4 { digits = byte &- UInt8(ascii: "0") < 10 ? digits + 1 : 0 }
        return digits == 4
    }
}
