package import FeedConfiguration

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
