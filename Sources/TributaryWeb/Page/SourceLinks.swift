/// Sources that are named with links to their pages: some of them, and the number of the others.
struct SourceLinks {
    struct Link {
        var name: String
        var address: String
    }

    private static let most = 12

    var links: [Link]
    /// Nil where all are named.
    var more: String?

    /// - Parameters:
    ///   - names: the sources.
    ///   - count: the number of all of them, where it is larger.
    init(_ names: [String], of count: Int = 0, most: Int = most) {
        links = names.prefix(most).map { Link(name: $0, address: PageAddress.path($0)) }
        let rest = max(count, names.count) - links.count
        more = rest > 0 ? rest.grouped : nil
    }
}
