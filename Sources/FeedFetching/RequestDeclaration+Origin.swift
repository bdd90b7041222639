import FeedDeclarations

extension RequestDeclaration {
    /// Removes what was declared for the source's own hosts, for a host that a response has named.
    ///
    /// - Throws: ``FetchError`` if it would then be a different request.
    package mutating func dropSecrets() throws {
        guard body == nil, method == "GET" || method == "HEAD" else {
            throw FetchError(
                .redirect, "\(url) leads to a host that the source does not name; a \(method) is not sent there")
        }
        headers = headers.leavingOrigin()
        parameters = [:]
        authentication = nil
    }

    /// Returns the origin of the request's address, `scheme://host:port`.
    ///
    /// - Throws: ``FetchError`` if the request has no valid address, as while it refers to a response not yet received.
    package func origin() throws -> String {
        if let declaredOrigin { return declaredOrigin }
        do {
            return try address().origin
        } catch {
            throw FetchError(.address, "\(url) cannot be used: \(error)")
        }
    }
}
