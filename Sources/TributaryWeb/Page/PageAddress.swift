import FeedConfiguration
import Foundation

/// Which page is asked for.
enum PageAddress: Sendable {
    case sources(SourceQuery)
    case source(String, SourcePage.Options)
    /// - Parameter format: how its changes are written for programs; nil for the page.
    case run(String, Int64, format: FileFormat?, ChangePart)
    case daemon
    /// Whether the changes on the page of a correction are out of date.
    ///
    /// - Parameter seen: the last run of the source when they were shown.
    case outdated(CorrectionAddress, seen: Int64)

    /// - Parameter address: path and query of a page.
    /// - Returns: nil where there is no such page.
    /// - Throws: ``Query/Problem`` for a value that is not understood.
    init?(_ address: String) throws {
        let (names, query) = Query.parts(of: address)
        switch names.count {
        case 0: self = .sources(try SourceQuery(query))
        case 1 where names[0] == "daemon": self = .daemon
        case 3:
            guard let correction = try CorrectionAddress(address), let seen = query["seen"].flatMap({ Int64($0) })
            else {
                return nil
            }
            self = .outdated(correction, seen: seen)
        case 2 where names[0] == "sources": self = .source(names[1], try SourcePage.Options(query))
        case 4 where names[0] == "sources" && names[2] == "runs":
            let (name, format) = FileFormat.split(names[3])
            guard let run = Int64(name) else { return nil }
            self = .run(names[1], run, format: format, try ChangePart(query))
        default: return nil
        }
    }

    /// Returns the path of a source's page, or of one below it.
    static func path(_ source: String, _ rest: String = "") -> String {
        "/sources/" + source.percentEncoded + rest
    }
}

extension View {
    /// Sources that are named with links to their pages: some of them, and the number of the others.
    ///
    /// - Parameter most: the most sources that are named.
    static func sources(_ names: [String], most: Int = 12) -> View {
        let links = names.prefix(most).map { Link(name: $0, address: PageAddress.path($0)) }
        return ["links": links, "more": names.count > links.count ? (names.count - links.count).grouped : nil]
    }
}
