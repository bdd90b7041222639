/// A constant of a mapping.
package enum Constant: Sendable, Hashable {
    case text(String)
    case integer(Int)
    case real(Double)
    case boolean(Bool)

    package var isText: Bool { if case .text = self { true } else { false } }

    /// The constant as the text of an element.
    package var text: String {
        switch self {
        case .text(let text): text
        case .integer(let number): String(number)
        case .real(let number): String(number)
        case .boolean(let flag): flag ? "true" : "false"
        }
    }
}
