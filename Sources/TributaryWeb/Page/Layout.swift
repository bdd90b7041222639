import FeedConfiguration

/// What is around the content of every page.
enum Layout {
    /// A step of the way to a page.
    struct Place {
        var name: String
        var address: String
        var isHere = false

        /// Returns the way to a page, the page itself last.
        ///
        /// - Parameter names: those of the page's path.
        static func way(to names: [String]) -> [Place] {
            let count = names.count
            switch names.first {
            case "daemon", "hooks": return [Place(name: "Daemon", address: DaemonPage.path, isHere: count == 1)]
            case "tables":
                return [Place(name: "Tables", address: "/tables", isHere: count == 1)]
                    + (count > 1
                        ? [Place(name: names[1], address: "/tables/" + names[1].percentEncoded, isHere: count == 2)]
                        : [])
                    + (count > 2 ? [Place(name: "Row", address: "", isHere: true)] : [])
            case "sources" where count > 1:
                let run = count == 4 ? Int64(names[3]) : nil
                return [Place(name: names[1], address: PageAddress.path(names[1]), isHere: count == 2)]
                    + (run.map {
                        [Place(name: "Run \($0)", address: PageAddress.path(names[1], "/runs/\($0)"), isHere: true)]
                    } ?? [])
            default: return []
            }
        }
    }

    /// A page that every page leads to.
    struct Link: Sendable {
        var name: String
        var address: String
        var isHere = false
    }
}

extension FileFormat {
    /// Returns a link for each format.
    ///
    /// - Parameter address: returns the address with a suffix.
    static func links(_ address: (_ suffix: String) -> String) -> [Layout.Link] {
        allCases.map { Layout.Link(name: $0.rawValue.uppercased(), address: address("." + $0.rawValue)) }
    }
}
