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
