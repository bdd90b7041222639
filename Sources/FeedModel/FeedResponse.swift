public import Foundation

/// The head of the response whose body is being parsed.
public struct FeedResponse: Sendable {
    /// The address as `sources.toml` declares it, with `${…}` as written and without `parameters`. It may be stored.
    public var requestedURL: String
    /// The address that answered, after redirects. It has everything that was sent, secrets included.
    public var url: String
    /// The base of relative references in the document (RFC 3986, section 5.1.3): the address that answered, without
    /// user, query and fragment. It may be stored. Nil for files, and where the rest contains a secret.
    public package(set) var baseURL: String?
    /// The source that sent the request.
    public package(set) var source = ""
    /// The request's key.
    public package(set) var request = ""
    /// True if the source has no other request.
    public package(set) var isOnlyRequest = true
    public var status: Int
    /// Names and values as received, in their order.
    public var headers: [(name: String, value: String)]
    /// The time at which the head arrived.
    public var fetchedAt: Date
    /// `ETag` and `Last-Modified`, byte for byte.
    public var validators: Validators
    /// The name of the document in the archive that the body is; nil if the body is one document.
    public package(set) var member: String?
    /// True if the body is a SOAP message. The document is inside its Body.
    package var isSOAP = false
    /// The limit for the body's size in memory and in the store; see `max_body`.
    package var maxBody = 256 << 20

    public init(
        requestedURL: String, url: String, status: Int, headers: [(name: String, value: String)], fetchedAt: Date,
        validators: Validators
    ) {
        self.requestedURL = requestedURL
        self.url = url
        self.status = status
        self.headers = headers
        self.fetchedAt = fetchedAt
        self.validators = validators
    }

    /// The address that answered, without user, password, query and fragment. These parts must not be stored, or do not
    /// count when references are resolved.
    package var addressWithoutUser: String? {
        guard var components = URLComponents(string: url),
            ["http", "https"].contains(components.scheme?.lowercased())
        else { return nil }
        components.user = nil
        components.password = nil
        components.query = nil
        components.fragment = nil
        return components.string
    }

    /// The value of the first header with this name, in upper or lower case.
    public subscript(header name: String) -> String? {
        headers.first { $0.name.utf8.count == name.utf8.count && $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The media type of the Content-Type, in lower case and without parameters; empty without one.
    package var mediaType: String {
        String(self[header: "Content-Type"]?.lowercased().prefix { $0 != ";" && $0 != " " } ?? "")
    }

    /// The `charset` parameter of the Content-Type, the first where it is repeated (RFC 9110, section 8.3).
    package var charset: String? {
        for parameter in self[header: "Content-Type"]?.split(separator: ";").dropFirst() ?? [] {
            let parts = parameter.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].trimmingCharacters(in: .whitespaces).lowercased() == "charset" else {
                continue
            }
            let value = parts[1].trimmingCharacters(in: CharacterSet(charactersIn: " \t\"'"))
            return value.isEmpty ? nil : value
        }
        return nil
    }
}
