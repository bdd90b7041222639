import GRDB

extension DatabaseValue {
    /// True if the value is the floating-point value NaN.
    var isNotANumber: Bool {
        if case .double(let value) = storage { value.isNaN } else { false }
    }
}
