import FeedDeclarations
import FeedFetching
import FeedModel
import FeedParsing
import XMLRecords
import XMLStream

extension FetchError {
    /// Returns the error to report for one thrown while the body was read. Ours, the parser's and the store's stay as
    /// they are; the client's is put in our words.
    static func reading(
        _ error: any Error, request: RequestDeclaration, _ progress: ExchangeProgress?
    ) -> any Error {
        switch error {
        case is FetchError, is DocumentError, is SOAPFault, is XMLStreamError, is BindingError, is ParserError,
            is MappingError, is XMLRecordError, is StoreError, is CancellationError:
            error
        default: FetchError(client: error, request: request, progress: progress)
        }
    }
}
