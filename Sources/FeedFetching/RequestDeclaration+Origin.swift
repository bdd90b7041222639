import FeedDeclarations

extension RequestDeclaration {
    /// What was declared for the source's own hosts does not go to one that a response has named.
    ///
    /// - Throws: ``FetchError`` where the request would be another one without.
    package mutating func dropSecrets() throws {
        guard body == nil, method == "GET" || method == "HEAD" else {
            throw FetchError(
                .redirect, "\(url) leads to a host that the source does not name; a \(method) is not sent there")
        }
        let kept: Set = ["accept", "accept-language", "user-agent"]
        headers = headers.filter { kept.contains($0.key.lowercased()) }
        parameters = [:]
        authentication = nil
    }

    /// The origin that is asked, `scheme://host:port`.
    ///
    /// - Throws: ``FetchError`` where the request has no address, as before a response has said what stands in it.
    package func origin() throws -> String {
        if let declaredOrigin { return declaredOrigin }
        do {
            return try address().origin
        } catch {
            throw FetchError(.address, "\(url) cannot be asked: \(error)")
        }
    }
}
