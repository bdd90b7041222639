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

    /// Tells the kinds, and registered classes, apart.
    package var name: String {
        switch self {
        case .parser(let name): "parser \(name)"
        case .mapping: "mapping"
        case .mirrored: Self.mirroredName
        case .captures: "captures"
        }
    }

    /// The keys of a request that declare it, with what else is taken from the document.
    package var declaringKeys: [String] {
        let taken = ["capture", "page"]
        guard case .mapping = self else { return taken }
        return taken + ["tables", "namespaces", "root", "expand"]
    }
}
