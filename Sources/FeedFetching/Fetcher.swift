package import FeedConfiguration
package import FeedModel
import Foundation

/// Sends a request and returns the head of the response. Each URL scheme has its own implementation.
package protocol Fetcher: Sendable {
    /// - Parameters:
    ///   - context: the permit and the clock of the exchange.
    ///   - validators: the stored validators of the request; empty for an unconditional request.
    ///   - movedTo: the request's new address, once the server has reported the permanent move often enough.
    /// - Throws: ``FetchError``, or `CancellationError`.
    func fetch(
        _ request: PreparedRequest, _ context: ExchangeContext, validators: Validators, movedTo: String?
    ) async throws -> Exchange
}

extension ExchangeContext {
    /// Waits until a request may be sent: for the pause that the server has requested, and for the rate limit. The wait
    /// does not count as time of the exchange.
    ///
    /// - Parameters:
    ///   - hosts: the limits of each host; nil for none.
    ///   - isAgain: true for a message that has not reached its server, and so does not wait for the rate limit again.
    /// - Throws: ``FetchError`` if the server has requested a long pause; `CancellationError`; what the permit's check
    ///   throws.
    func waitToSend(
        to origin: Origin, _ request: PreparedRequest, _ hosts: HostGate?, isAgain: Bool = false, now: () -> Date
    ) async throws {
        do {
            if isAgain {
                try await hosts?.waitUntilOpen(origin, clock)
            } else if let permit {
                try await permit.waitToSend(to: origin, clock)
            } else {
                try await hosts?.waitToSend(to: origin, nil, clock)
            }
        } catch let error as ClosedHost {
            var failure = FetchError(
                .status,
                "\(request.method) \(request.url): the server \(error.origin) wants no request for "
                    + "\(error.left.roughText) more (Retry-After)")
            failure.wait = RequestedWait(origin: error.origin, end: now() + error.left.seconds)
            throw failure
        }
    }
}

extension RequestDeclaration {
    /// Removes credentials and other values for the source's own hosts, for a host that a response names.
    ///
    /// - Throws: ``FetchError`` if the request would differ without them.
    package mutating func dropSecrets() throws {
        guard body == nil, method == "GET" || method == "HEAD" else {
            throw FetchError(
                .redirect, "\(url) leads to a host that the source does not name; a \(method) is not sent there")
        }
        headers = headers.leavingOrigin()
        parameters = [:]
        authentication = authentication?.withoutSecrets
    }

    /// Returns the request with its final address, headers and body.
    ///
    /// - Throws: ``FetchError`` if the request has no valid address, for example because it refers to a later response.
    package func prepare() throws(FetchError) -> PreparedRequest {
        if let prepared { return prepared }
        do {
            return try PreparedRequest(self)
        } catch {
            throw FetchError(.address, "\(url) cannot be used: \(error)")
        }
    }

    /// Returns the origin of the request's address.
    ///
    /// - Throws: ``FetchError`` if the request has no valid address.
    package func origin() throws(FetchError) -> Origin {
        if let prepared { return prepared.origin }
        do {
            return try address().origin
        } catch {
            throw FetchError(.address, "\(url) cannot be used: \(error)")
        }
    }
}
