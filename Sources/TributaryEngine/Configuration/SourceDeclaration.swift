/// A named stack of requests, as `sources.toml` declares it.
public struct SourceDeclaration: Sendable, Equatable {
    public var name: String
    /// How long the rows of a good run are fresh.
    public var cache: Duration
    public var isEnabled: Bool
    public var requests: [RequestDeclaration]
}
