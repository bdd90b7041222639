package import FeedModel
package import Foundation

/// What is sent for a request: its address, its headers and its body, without references that are still to be resolved.
///
/// A request without references is prepared once, when the configuration is read; one with references when their values are
/// known.
package struct PreparedRequest: Sendable, Equatable {
    package struct Header: Sendable, Equatable {
        package var name: String
        package var value: String

        package init(name: String, value: String) { (self.name, self.value) = (name, value) }
    }

    package static let userAgent = "Tributary/\(TributaryVersion.version) (+\(TributaryVersion.home))"

    /// The declared address, with the text that messages show.
    package let url: InterpolatedText
    /// The address, with the parameters that belong into its query.
    package private(set) var address: URL
    package let origin: Origin
    /// The declared address, by its kind.
    package let target: RequestAddress
    package private(set) var method: String
    /// Without validators and authorization, in the order in which they are sent.
    package private(set) var headers: [Header]
    package let body: String?
    package private(set) var authentication: Authentication?
    package let transport: Transport
    package let timeout: Duration
    /// What named the address; nil for a declared one.
    package let provenance: AddressProvenance?
    /// True where responses may lead to addresses that are not public.
    package let allowsPrivate: Bool
    /// True where a folder may have no file.
    package let allowsEmpty: Bool
    package let documents: MemberPattern?
    /// The age beyond which files of a folder are left out; nil for none.
    package let newerThan: Duration?
    /// What is done with the files once their rows are committed; nil for nothing.
    package let afterCommit: FileAction?

    /// Prepares a request. Its parameters go into the query, or form-encoded into the body if the method has one and the
    /// request declares none.
    ///
    /// - Throws: ``Finding`` where the request has no valid address, for instance before a response has given the
    ///   values of its references.
    package init(_ request: RequestDeclaration) throws(Finding) {
        url = request.url
        method = request.method
        authentication = request.authentication
        transport = request.transport
        timeout = request.timeout
        provenance = request.provenance
        allowsPrivate = request.allowsPrivate
        allowsEmpty = request.allowsEmpty
        documents = request.documents
        newerThan = request.newerThan
        afterCommit = request.afterCommit
        target = try request.target()
        var body = request.body?.text.value
        var headers = request.headers.sorted { $0.key < $1.key }.map { Header(name: $0.key, value: $0.value.value) }
        guard var components = URLComponents(url: target.url, resolvingAgainstBaseURL: true) else { throw Self.noURL }
        if !request.parameters.isEmpty {
            let pairs = Self.form(request.parameters.mapValues(\.value))
            if body == nil, ["POST", "PUT", "PATCH"].contains(method) {
                body = pairs
                if !request.hasHeader("Content-Type") {
                    let form = Header(name: "Content-Type", value: "application/x-www-form-urlencoded")
                    headers.insert(form, at: headers.firstIndex { $0.name > form.name } ?? headers.endIndex)
                }
            } else {
                let query = components.percentEncodedQuery.flatMap { $0.isEmpty ? nil : $0 + "&" } ?? ""
                components.percentEncodedQuery = query + pairs
            }
        }
        components.fragment = nil
        guard let address = components.url else { throw Self.noURL }
        for (name, value) in [("User-Agent", Self.userAgent), ("Accept-Encoding", "gzip, deflate")]
        where !request.hasHeader(name) {
            headers.append(Header(name: name, value: value))
        }
        self.address = address
        origin = address.origin
        self.headers = headers
        self.body = body
    }

    /// Returns a request to the store of an `s3:` address.
    ///
    /// - Parameter others: further headers.
    package func asking(_ method: String, _ address: URL, at access: BucketAccess, _ others: [Header] = []) -> Self {
        var request = self
        request.method = method
        request.address = address
        request.authentication = .s3(access)
        request.headers += others
        return request
    }

    /// The request without the range of an interrupted transfer.
    package var whole: Self {
        var request = self
        request.headers.removeAll { ["Range", "If-Range"].contains($0.name) }
        return request
    }

    private static var noURL: Finding { Finding("it is not a URL") }

    /// Returns the address without user and password, to be shown. Its other secrets are still to be removed.
    ///
    /// - Parameter hasQuery: false where the query may be a secret that nobody has declared.
    package func shown(withQuery hasQuery: Bool) -> String {
        let text = address.absoluteString.withoutUserInfo
        return hasQuery ? text : String(text.prefix { $0 != "?" })
    }

    /// Returns names and values encoded as a query or a form.
    package static func form(_ fields: [String: String]) -> String {
        fields.sorted { $0.key < $1.key }.map { "\($0.key.percentEncoded)=\($0.value.percentEncoded)" }.joined(
            separator: "&")
    }
}
