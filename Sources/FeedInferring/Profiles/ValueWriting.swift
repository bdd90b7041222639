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
    /// The value of another column that has decided it; nil where the values decide it themselves.
    var evidence: String?

    var comment: String { doubt ?? "as in \(example)" + (evidence.map { ", as another column has \($0)" } ?? "") }
}

/// How a document writes numbers and dates, where the values of some columns show it.
///
/// `1.234,50` in one column shows that the point in another one's `12.500` groups thousands, and `25/12/2026` that the
/// `03/04/2026` of another is in April. Columns that contradict each other show nothing to others.
struct DocumentNotation {
    /// The styles of all columns whose numbers have one possible decimal mark.
    private(set) var numbers: NumberStyles = []
    /// The styles whose mark between groups some column shows.
    private(set) var grouped: NumberStyles = []
    /// A number with each decimal mark: a comma first.
    private var numberExamples: (comma: String?, point: String?)
    /// The orders of all columns whose dates have one possible order, each with a date.
    private var orders: [String: String] = [:]

    /// - Parameter profiles: those of the columns of all tables whose notation no schema says.
    init(_ profiles: [ValueProfile]) {
        for profile in profiles { profile.show(in: &self) }
    }

    mutating func show(_ styles: NumberStyles, _ example: String) {
        numbers.formUnion(styles)
        if styles.group != nil { grouped.formUnion(styles) }
        if styles.isDisjoint(with: .point) {
            numberExamples.comma = numberExamples.comma ?? example
        } else {
            numberExamples.point = numberExamples.point ?? example
        }
    }

    mutating func show(order: String, _ example: String) {
        if orders[order] == nil { orders[order] = example }
    }

    /// The numbers that show the styles: two where they contradict each other.
    var shownNumbers: [String] { [numberExamples.comma, numberExamples.point].compactMap(\.self) }

    /// Returns the date that shows an order; nil without one.
    func example(ofOrder order: String) -> String? { orders[order] }
}

/// A local notation in which a value has several spellings: `12.500` and `12500`, `1/2/2026` and `01/02/2026`.
enum ValueSpelling: Equatable {
    case number(hasDecimalComma: Bool)
    case date

    /// Returns one spelling for all that a mapping reads as the same value: a plain number, or a date without zeros before
    /// its parts.
    func canonical(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        for (index, byte) in text.enumerated() {
            let isDigit = byte &- UInt8(ascii: "0") < 10
            switch self {
            case .number(let hasDecimalComma):
                if isDigit || byte == UInt8(ascii: "-") { result.append(byte) }
                if byte == UInt8(ascii: hasDecimalComma ? "," : ".") { result.append(UInt8(ascii: ".")) }
            case .date:
                let isAfterDigit = result.last.map { $0 &- UInt8(ascii: "0") < 10 } ?? false
                let isBeforeDigit = index + 1 < text.count && text[index + 1] &- UInt8(ascii: "0") < 10
                if byte != UInt8(ascii: "0") || isAfterDigit || !isBeforeDigit { result.append(byte) }
            }
        }
        return result
    }
}

/// What the values of a column have in common that are numbers or dates in a local notation.
struct LocalForms {
    private var numbers = NumberStyles.all
    /// The styles of the numbers that are texts in the document's format. Those that are numbers there, as in JSON without
    /// quotes, always have a point, and do not show how the document writes others.
    private var textNumbers = NumberStyles.all
    /// The numbers of digits in the values' fractions, where a comma or a point is the decimal mark.
    private var comma = DecimalPlaces()
    private var point = DecimalPlaces()
    private var hasNumber = false
    /// The formats in which every value is a date.
    private var dates = LocalDates.formats
    private var count = 0
    /// The last value that has ruled something out.
    private var example = ""
    /// The values of other columns that decide what these are, or contradict each other.
    private var evidence: [String] = []

    /// False where no further value changes anything.
    var isOpen: Bool { !numbers.isEmpty || !dates.isEmpty }

    /// - Parameters:
    ///   - number: the value as a plain number, where it is one.
    ///   - isNumber: true for a number in the document's format.
    mutating func add(_ text: UnsafeBufferPointer<UInt8>, plain number: NumberText?, isNumber: Bool) {
        defer { count += 1 }
        if !numbers.isEmpty { addNumber(text, number, isNumber) }
        guard !dates.isEmpty else { return }
        let possible = dates.count
        if number == nil, LocalDates.mayHold(text) {
            dates.removeAll { $0.date(text) == nil }
        } else {
            dates = []
        }
        if !dates.isEmpty, dates.count < possible { keep(text) }
    }

    private mutating func addNumber(_ text: UnsafeBufferPointer<UInt8>, _ plain: NumberText?, _ isNumber: Bool) {
        let local = plain == nil ? LocalNumber(text) : nil
        if local != nil { hasNumber = true }
        comma.add(local?.decimals(after: UInt8(ascii: ",")))
        point.add(plain?.decimals ?? local?.decimals(after: UInt8(ascii: ".")))
        var found = plain?.styles ?? local?.styles ?? []
        if isNumber { found.formIntersection(.point) } else { textNumbers.formIntersection(found) }
        if !numbers.isSubset(of: found) { keep(text) }
        numbers.formIntersection(found)
    }

    private mutating func keep(_ text: UnsafeBufferPointer<UInt8>) { example = String(decoding: text, as: UTF8.self) }

    mutating func merge(_ other: LocalForms) {
        guard other.count > 0 else { return }
        guard count > 0 else { return self = other }
        count += other.count
        if example.isEmpty || !numbers.isSubset(of: other.numbers) { example = other.example }
        textNumbers.formIntersection(other.textNumbers)
        numbers.formIntersection(other.numbers)
        comma.merge(other.comma)
        point.merge(other.point)
        hasNumber = hasNumber || other.hasNumber
        dates.removeAll { !other.dates.contains($0) }
    }

    // MARK: - Other columns

    /// True for numbers that are different ones with a comma before the fraction and with a point: `1,234`, `12.500`.
    private var isAmbiguous: Bool { count > 0 && numbers.isAmbiguous && (comma.most > 0 || point.most > 0) }

    /// Adds what the values show.
    func show(in notation: inout DocumentNotation) {
        guard count > 0 else { return }
        if !numbers.isEmpty, !textNumbers.isAmbiguous { notation.show(textNumbers, example) }
        if dates.count == 1 { notation.show(order: Self.order(dates[0]), example) }
    }

    /// Decides what the values leave open by those of other columns.
    ///
    /// - Returns: true for numbers that have no plain notation, although they may seem to.
    mutating func settle(_ notation: DocumentNotation) -> Bool {
        settleDates(notation)
        guard isAmbiguous, !notation.numbers.isEmpty else { return false }
        evidence = notation.shownNumbers
        let possible = numbers.intersection(notation.numbers)
        // A comma before fractions elsewhere does not show that this column's points group thousands: coordinates have points.
        let isGroup = possible.group.map { _ in !possible.isSubset(of: notation.grouped) } ?? false
        if !possible.isEmpty, !possible.isAmbiguous, !isGroup { numbers = possible }
        hasNumber = hasNumber || !numbers.isSubset(of: .point)
        return hasNumber
    }

    private mutating func settleDates(_ notation: DocumentNotation) {
        guard dates.count > 1 else { return }
        let shown = dates.compactMap { date in notation.example(ofOrder: Self.order(date)).map { (date, $0) } }
        evidence = shown.map(\.1)
        if shown.count == 1 { dates = [shown[0].0] }
    }

    /// The date of a format, without a time.
    private static func order(_ format: DateFormat) -> String { String(format.pattern.prefix(8)) }

    // MARK: - The result

    /// What all values are: the plural; nil for texts.
    var kind: String? { !numbers.isEmpty && hasNumber ? "numbers" : dates.isEmpty ? nil : "dates" }

    /// What a column of plain numbers may be instead; nil where its numbers can be only these.
    var note: ValueWriting? {
        guard isAmbiguous else { return nil }
        return ValueWriting(
            example: example, doubt: "\(example): read as a fraction; if it is thousands, add \(Self.thousands)")
    }

    private static let thousands = #"decimal_separator = ",", group_separator = ".""#

    /// The type of the values and how they are written; nil where they are nothing but texts. Values that may be of more
    /// than one kind are text, and the writing says so.
    var type: (type: ValueType, writing: ValueWriting)? {
        guard count > 0 else { return nil }
        if hasNumber, !numbers.isEmpty { return numberType }
        guard let first = dates.first?.pattern else { return nil }
        let type: ValueType = first.contains("%H") ? .datetime : .date
        var writing = ValueWriting(keys: [("format", TOMLText.string(first))], example: example)
        writing.evidence = evidence.first
        guard dates.count > 1 else { return (type, writing) }
        writing.keys = []
        let formats = dates.map { TOMLText.string($0.pattern) }.joined(separator: " or ")
        writing.doubt =
            "\(example): day or month first?\(contradiction) type = \"\(type.rawValue)\", format = \(formats)"
        return (.text, writing)
    }

    private var numberType: (ValueType, ValueWriting) {
        let isPoint = !numbers.isDisjoint(with: .point)
        var writing = ValueWriting(example: example)
        if isAmbiguous {
            let keys =
                comma.most > 0
                ? #"decimal_separator = "," or group_separator = ",""# : "and for thousands also \(Self.thousands)"
            writing.doubt = "\(example): a fraction, or thousands?\(contradiction) type = \"decimal\", \(keys)"
            return (.text, writing)
        }
        writing.evidence = evidence.first
        // Without a fraction, the mark before one decides nothing.
        let fraction = isPoint ? point : comma
        if !isPoint { writing.keys.append(("decimal_separator", TOMLText.string(","))) }
        if let group = numbers.intersection(isPoint ? .point : .comma).group {
            writing.keys.append(("group_separator", TOMLText.string(String(group))))
        }
        return (fraction.most == 0 ? .integer : fraction.areDecimal ? .decimal : .real, writing)
    }

    /// A clause with the values of other columns, which contradict each other; empty without them.
    private var contradiction: String {
        evidence.isEmpty ? "" : " Other columns have \(evidence.joined(separator: " and "));"
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
