/// The way in which the body of a response is parsed.
public enum BodyContent: Sendable, Hashable {
    /// A registered class, by its name.
    case parser(String)
    /// The tables that `sources.toml` maps.
    case mapping(RequestMapping)
    /// Everything in the document that is named like the store's tables and columns: `parser = "mirrored"`.
    case mirrored

    /// Only the request's captures: a login, an index of addresses.
    case captures

    /// The reserved name of the mirrored schema.
    package static let mirroredName = "mirrored"

    /// A name that distinguishes the kinds, and the registered classes.
    package var name: String {
        switch self {
        case .parser(let name): "parser \(name)"
        case .mapping: "mapping"
        case .mirrored: Self.mirroredName
        case .captures: "captures"
        }
    }

    /// The keys of a request that declare this content, and the other values taken from the document.
    package var declaringKeys: [String] {
        let taken = ["capture", "page", "format", "csv", "documents"]
        guard case .mapping = self else { return taken }
        return taken + ["tables", "namespaces", "root", "expand"]
    }
}
