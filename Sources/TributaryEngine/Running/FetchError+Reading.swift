import FeedDeclarations
import FeedFetching
import FeedModel
import FeedParsing
import XMLRecords
import XMLStream

extension FetchError {
    /// An error while the body was read: ours, the parser's and the store's as they are, the client's in our words.
    static func reading(_ error: any Error, request: RequestDeclaration) -> any Error {
        switch error {
        case is FetchError, is DocumentError, is SOAPFault, is XMLStreamError, is BindingError, is ParserError,
            is MappingError, is XMLRecordError, is StoreError, is CancellationError:
            error
        default: FetchError(client: error, request: request)
        }
    }
}
