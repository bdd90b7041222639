/// What parses the body of a request's response.
public enum BodyContent: Sendable, Hashable {
    /// A registered class, by its name.
    case parser(String)
    /// The tables that `sources.toml` maps.
    case mapping(RequestMapping)
    /// Whatever of the document is named like the store's tables and columns: `parser = "mirrored"`.
    case mirrored

    /// Nothing but what the request captures: a login, an index of addresses.
    case captures

    /// The reserved name of the mirrored schema.
    package static let mirroredName = "mirrored"
}
