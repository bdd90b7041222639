import FeedStore
import XMLStream

/// Why a request gave no usable response.
struct FetchError: Error, Sendable, CustomStringConvertible {
    enum Code: Sendable {
        case connection, timeout, status, truncated, tooLarge, decoding, redirect, file
    }

    var code: Code
    var message: String

    var description: String { message }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// An error while the body was read: ours, the parser's and the store's as they are, the client's in our words.
    static func reading(_ error: any Error, request: RequestDeclaration) -> any Error {
        switch error {
        case is FetchError, is XMLStreamError, is BindingError, is ParserError, is MappingError, is XMLRecordError,
            is StoreError,
            is CancellationError:
            error
        default: FetchError(client: error, request: request)
        }
    }
}
