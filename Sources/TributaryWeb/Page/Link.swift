import FeedConfiguration

/// A page that another one leads to.
struct Link: Sendable {
    var name: String
    var address: String
    /// True for the page on which the link is.
    var isHere = false

    /// Returns the way to a page, the page itself last.
    ///
    /// - Parameter names: those of the page's path.
    static func way(to names: [String]) -> [Link] {
        let count = names.count
        switch names.first {
        case "daemon", "hooks": return [Link(name: "Daemon", address: DaemonPage.path, isHere: count == 1)]
        case "tables":
            var way = [Link(name: "Tables", address: "/tables", isHere: count == 1)]
            if count > 1 {
                way.append(Link(name: names[1], address: "/tables/" + names[1].percentEncoded, isHere: count == 2))
            }
            if count > 2 { way.append(Link(name: "Row", address: "", isHere: true)) }
            return way
        case "sources" where count > 1:
            var way = [Link(name: names[1], address: PageAddress.path(names[1]), isHere: count == 2)]
            if count == 4, let run = Int64(names[3]) {
                let address = PageAddress.path(names[1], "/runs/\(run)")
                way.append(Link(name: "Run \(run)", address: address, isHere: true))
            }
            return way
        default: return []
        }
    }
}

extension FileFormat {
    /// Returns a link for each format.
    ///
    /// - Parameter address: returns the address with a suffix.
    static func links(_ address: (_ suffix: String) -> String) -> [Link] {
        allCases.map { Link(name: $0.rawValue.uppercased(), address: address("." + $0.rawValue)) }
    }
}
