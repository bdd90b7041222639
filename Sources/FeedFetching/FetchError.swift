/// Why a request gave no usable response.
struct FetchError: Error, Sendable, CustomStringConvertible {
    enum Code: Sendable {
        case address, connection, timeout, status, overloaded, truncated, tooLarge, decoding, redirect, file
    }

    var code: Code
    var message: String

    /// Whether the same request may well succeed when it is sent once more.
    var isWorthRepeating: Bool { code == .connection || code == .truncated || code == .overloaded }

    var description: String { message }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
