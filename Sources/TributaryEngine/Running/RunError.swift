import FeedDeclarations
import FeedFetching
import FeedParsing
import FeedStore
import XMLStream

/// Why a run was discarded: which request, what was found, what to do.
struct RunError: Error, CustomStringConvertible {
    var request: String
    var message: String

    var description: String { "request '\(request)': \(message)" }

    init(_ error: any Error, in request: RequestDeclaration) {
        self.request = request.key
        switch error {
        case let error as FetchError: message = error.description
        case let error as RunError: self = error
        case is XMLStreamError, is BindingError, is ParserError: message = "\(request.url): \(error)"
        default: message = "\(error)"
        }
    }
}
