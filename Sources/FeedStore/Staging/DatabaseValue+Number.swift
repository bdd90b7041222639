import GRDB

extension DatabaseValue {
    /// Whether it is the floating-point value that is no number.
    var isNotANumber: Bool {
        if case .double(let value) = storage { value.isNaN } else { false }
    }
}
