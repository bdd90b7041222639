import FeedDeclarations
import FeedModel
import FeedStore
import XMLRecords
import XMLStream

/// Why a request gave no usable response.
struct FetchError: Error, Sendable, CustomStringConvertible {
    enum Code: Sendable {
        case address, connection, timeout, status, overloaded, fault, truncated, tooLarge, decoding, redirect, file
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
