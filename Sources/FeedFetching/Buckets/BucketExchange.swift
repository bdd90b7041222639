import AsyncHTTPClient
import FeedConfiguration
import FeedModel
import Foundation

/// The messages of one request to a store of buckets. Each waits for the store's permits and limits, as one over `http:` does.
struct BucketExchange: Sendable {
    let http: HTTPFetcher
    let request: PreparedRequest
    let address: BucketAddress
    let context: ExchangeContext

    /// The statuses by which a store refuses a sender, or names another store. The engine treats the others.
    private static let refusals: Set = [301, 302, 307, 308, 400, 401, 403]

    /// Sends a message about an object, and returns the head of the response.
    ///
    /// - Throws: ``FetchError``, also where the store refuses the sender; `CancellationError`.
    func send(
        _ method: String, _ key: String, _ headers: [PreparedRequest.Header] = [], validators: Validators = Validators()
    ) async throws -> Exchange {
        let url = try url { () throws(Finding) in try address.url(of: key) }
        return try await send(request.asking(method, url, at: address.access, headers), validators)
    }

    /// Requests a page of a listing.
    func page(of prefix: String, isDeep: Bool, after token: String?) async throws -> Exchange {
        let url = try url { () throws(Finding) in try address.listing(of: prefix, isDeep: isDeep, after: token) }
        return try await send(request.whole.asking("GET", url, at: address.access), Validators())
    }

    /// Requests an object of a listing, and returns its body.
    ///
    /// - Throws: ``FetchError``, also where the object is not the one that was listed; `CancellationError`.
    func body(of object: BucketListing.Object) async throws -> HTTPClientResponse.Body {
        let exchange: Exchange
        do {
            let whole = BucketExchange(http: http, request: request.whole, address: address, context: context)
            exchange = try await whole.send("GET", key(of: object))
        } catch let error as FetchError {
            throw error.on(object.shown)
        }
        guard exchange.response.status != 404 else { throw object.change }
        guard exchange.response.status == 200, let body = exchange.httpBody else {
            throw failure(exchange).on(object.shown)
        }
        guard exchange.response.validators.etag.map(object.isSame) ?? true else { throw object.change }
        return body
    }

    func key(of object: BucketListing.Object) -> String {
        address.folder + String(decoding: object.path, as: UTF8.self)
    }

    func document(_ exchange: Exchange) async throws -> BucketDocument {
        try await BucketDocument.read(exchange, of: request, context.clock)
    }

    /// Returns the store's words for an error; none where the body has none, as that of an answer to HEAD.
    func words(_ exchange: Exchange) async throws -> [String: String] {
        do {
            return try await document(exchange).values
        } catch is FetchError {
            return [:]
        }
    }

    /// Returns the error of an unexpected status.
    func failure(_ exchange: Exchange) -> FetchError {
        let status = exchange.response.status
        var error = FetchError(
            [500, 502, 504].contains(status) ? .overloaded : .status,
            "\(request.url): the server answered \(HTTPReason.text(status))")
        if RetryAfter.statuses.contains(status) {
            error.wait = RequestedWait(
                origin: exchange.origin, status: status, end: RetryAfter.end(of: exchange.response, at: http.now()))
        }
        return error
    }

    private func send(_ message: PreparedRequest, _ validators: Validators) async throws -> Exchange {
        context.clock?.beginMessage()
        let exchange = try await http.fetch(message, context, validators: validators, movedTo: nil)
        guard Self.refusals.contains(exchange.response.status) else { return exchange }
        throw refusal(exchange, try await words(exchange))
    }

    /// Returns the error of a refusal, with the store's own words for it.
    func refusal(_ exchange: Exchange, _ words: [String: String]) -> FetchError {
        var error = failure(exchange)
        if let code = words["Code"] {
            error.message += ": \(code.shortened(to: 100))"
            if let message = words["Message"] { error.message += " (\(message.shortened(to: 300)))" }
        }
        let region = exchange.response[header: "x-amz-bucket-region"] ?? words["Region"]
        if exchange.response.status == 404 {
            error.advice = "check the request's url"
        } else if let region, region != address.access.region {
            error.advice = "the bucket is in another region: set auth.s3.region to '\(region.shortened(to: 40))'"
        } else {
            error.advice = address.access.keys == nil ? "declare 'auth.s3' with a key" : "check the request's 'auth.s3'"
        }
        return error
    }

    private func url(_ make: () throws(Finding) -> URL) throws(FetchError) -> URL {
        do throws(Finding) {
            return try make()
        } catch {
            throw FetchError(.address, "\(request.url) cannot be used: \(error)")
        }
    }
}
