import FeedDeclarations
import FeedFetching
import FeedParsing
import FeedStaging
import FeedStores
import XMLStream

/// The reason why a run was discarded: which request, what was found, what to do.
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

/// The reason why a run cannot go on, if no server, document or store is to blame.
struct StackError: Error, Sendable, CustomStringConvertible {
    enum Code: Sendable {
        /// A request refers to a value that is not known, or that cannot be sent.
        case reference
        /// A feed without a record would delete every row.
        case empty
        /// The program has no parser of the name that a request gives.
        case parser
    }

    var code: Code
    var message: String

    var description: String { message }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
