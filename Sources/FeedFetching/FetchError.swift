/// The reason why a request gave no usable response.
package struct FetchError: Error, Sendable, CustomStringConvertible {
    package enum Code: Sendable {
        case address, connection, timeout, status, overloaded, truncated, tooLarge, decoding, redirect, file
    }

    var code: Code
    var message: String

    /// True if the same request may well succeed when it is sent again.
    package var isWorthRepeating: Bool { code == .connection || code == .truncated || code == .overloaded }

    package var description: String { message }

    /// Returns the error with the place where it came about in front of its message.
    package func on(_ place: String) -> FetchError { FetchError(code, "\(place): \(message)") }

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
