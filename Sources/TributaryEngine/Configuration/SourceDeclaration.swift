import FeedModel
import FeedStore

/// A named stack of requests, as `sources.toml` declares it.
public struct SourceDeclaration: Sendable, Equatable {
    public var name: String
    /// How long the rows of a good run are fresh.
    public var cache: Duration
    /// Whether `cache` is declared: otherwise what servers say decides besides.
    public var hasOwnCache = true
    /// Whether a server's max-age or Expires puts the next poll off.
    public var honorsMaxAge = true
    public var isEnabled: Bool
    public var requests: [RequestDeclaration]
    /// Changes when anything in the declaration does; set once the whole of it has been read.
    var identity = ""

    /// Changes when anything that is sent does.
    var fingerprint: String {
        Fingerprint.hexadecimal(requests.map { $0.fingerprint(parserVersion: 0) }.joined(separator: "\u{0}"))
    }

    /// Itself with its identity.
    var identified: SourceDeclaration {
        var source = self
        let options = requests.map { request in
            "\(request.timeout) \(request.transport) \(request.maxBody) \(request.allowsEmpty) "
                + "\(request.acceptStatus.sorted()) \(request.retries) \(request.retriesUnsafe)"
        }
        source.identity = Fingerprint.hexadecimal(
            ([fingerprint, "\(cache) \(hasOwnCache) \(honorsMaxAge)"] + options).joined(separator: "\u{0}"))
        return source
    }
}
