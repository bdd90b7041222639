import FeedConfiguration
import FeedFetching
import FeedModel
import FeedParsing
import FeedStaging
import FeedStores
import XMLStream

/// The error of a discarded run: which request, what was found, what to do.
struct RunError: Error, CustomStringConvertible {
    var request: String
    /// The row of `for_each` for which the request was sent; nil without `for_each`.
    var item: String?
    var message: String
    /// The wait that a busy server requests; nil for another error.
    var wait: RequestedWait?

    /// The error without the request, for a report that names it.
    var withoutRequest: StackError { StackError((item.map { $0 + ": " } ?? "") + message) }

    var description: String { "request '\(request)'\(item.map { ", " + $0 } ?? ""): \(message)" }

    init(_ error: any Error, in request: RequestDeclaration, item: String? = nil) {
        self.request = request.key
        self.item = item
        switch error {
        case let error as FetchError: (message, wait) = (error.description, error.wait)
        case let error as RunError: (self.item, message, wait) = (error.item ?? item, error.message, error.wait)
        case let error as XMLStreamError: message = "\(request.url): \(error)" + Self.advice(on: error, request)
        case is BindingError, is ParserError: message = "\(request.url): \(error)"
        default: message = ErrorText.words(error)
        }
    }

    /// Returns the repair of documents with such an error, as the end of its message; empty without one.
    private static func advice(on error: XMLStreamError, _ request: RequestDeclaration) -> String {
        guard let fault = XMLRepair.Fault(of: error), !request.repair.contains(fault) else { return "" }
        return "; set repair = [\"\(fault.rawValue)\"] to accept such documents"
    }

    /// Returns an error that names the request's page, except the first. Errors that allow a repetition keep their
    /// type.
    static func onPage(
        _ page: Int, of request: RequestDeclaration, _ declared: RequestDeclaration, _ error: any Error
    ) -> any Error {
        guard page > 1, !(error is CancellationError) else { return error }
        let name = name(ofPage: page, of: request, declared)
        if let error = error as? FetchError { return error.on(name) }
        var error = RunError(error, in: request)
        error.message = "\(name): \(error.message)"
        return error
    }

    /// Returns an error that names its document among several.
    static func inDocument(_ name: String, of request: RequestDeclaration, _ error: any Error) -> any Error {
        guard !(error is CancellationError) else { return error }
        let place = "document '\(name.shortened(to: 200))'"
        switch error {
        case let error as FetchError: return error.on(place)
        // An error of the store does not concern the document.
        case is StoreError: return error
        default:
            var error = RunError(error, in: request)
            error.message = "\(place): \(error.message)"
            return error
        }
    }

    /// Returns the name of a page, with its address.
    ///
    /// - Parameter declared: the request as it is declared.
    static func name(ofPage page: Int, of request: RequestDeclaration, _ declared: RequestDeclaration) -> String {
        // The query of an address from a response may be a secret.
        let address = try? request.prepare().shown(withQuery: !declared.url.isReference)
        return "page \(page) (\(address ?? request.url.description))"
    }

    /// Returns the name of an item of `for_each`, with the values that the request takes from its row.
    ///
    /// - Parameter number: the row's number, from 1.
    static func name(ofItem number: Int, of count: Int, _ row: [String: String?], in request: RequestDeclaration)
        -> String
    {
        let columns = Set(request.references.compactMap { $0.column?.lowercased() ?? $0.bound })
        let values = columns.sorted().compactMap { column -> String? in
            guard let value = row[column] else { return nil }
            // The query of an address from a row may be a secret.
            let shown = request.url.isReference ? value.map { String($0.prefix { $0 != "?" && $0 != "#" }) } : value
            return "\(column) = \((shown ?? "NULL").shortened(to: 100))"
        }
        return "item \(number) of \(count)" + (values.isEmpty ? "" : " (\(values.joined(separator: ", ")))")
    }
}

/// An error that consists only of its text, as that of a run that neither a server nor a document nor the store caused.
struct StackError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
