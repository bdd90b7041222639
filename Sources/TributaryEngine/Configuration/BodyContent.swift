/// What parses the body of a request's response.
public enum BodyContent: Sendable, Hashable {
    /// A registered class, by its name.
    case parser(String)
    /// The tables that `sources.toml` maps.
    case mapping(RequestMapping)
    /// Whatever of the document is named like the store's tables and columns: `parser = "mirrored"`.
    case mirrored

    /// The reserved name of the last.
    static let mirroredName = "mirrored"
}
