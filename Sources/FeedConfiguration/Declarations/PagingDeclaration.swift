import FeedModel
package import XMLStream

/// The repetition of a request for page after page. All pages count as one request of the stack.
public struct PagingDeclaration: Sendable, Hashable {
    package enum Next: Sendable, Hashable {
        /// The path of the next page's address. A page without one is the last.
        case path(XMLPath, written: String)
        /// The target of the Link header with the relation `next` (RFC 8288). A page without one is the last.
        case link
        /// The path of a continuation token, which is sent as a parameter. A page without one, or with an empty one, is the
        /// last.
        case token(XMLPath, written: String, ContinuationParameter)
        /// A parameter that counts. A page without a record is the last.
        case counter(parameter: String, start: Int, step: Int)
    }

    package var next: Next
    /// The most pages. A request with more discards the run.
    package var maxPages: Int

    package static let defaultMaxPages = 100

    /// The path of the next page's address or token; nil if the body does not contain it.
    package var path: XMLPath? {
        switch next {
        case .path(let path, _), .token(let path, _, _): path
        case .link, .counter: nil
        }
    }
}

/// The parameter by which a continuation token is sent: in the query or the form, in an object of JSON, or in an element of a
/// SOAP or XML body.
package struct ContinuationParameter: Sendable, Hashable {
    package var name: String
    /// The other parameters that are sent with a token; nil for all of them.
    package var kept: Set<String>?

    /// Returns a request with a token.
    ///
    /// - Throws: ``Finding`` if the body has no place for the parameter.
    package func sending(_ token: String, in request: RequestDeclaration) throws -> RequestDeclaration {
        var request = request
        if let kept { request.parameters = request.parameters.filter { kept.contains($0.key) } }
        if let body = request.body {
            request.body = try body.setting(name, to: token)
        } else {
            request.parameters[name] = InterpolatedText(value: token, template: token)
        }
        return request
    }
}
