import Foundation

/// Names a source after where its document is.
package enum SourceName {
    /// The file's name without what follows a point, unless it could be anybody's: then the host's.
    package static func make(of url: String) -> String {
        let parts = URLComponents(string: url)
        let file = (parts?.path ?? url).split(separator: "/").last?.split(separator: ".").first.map(String.init) ?? ""
        let name = SQLName.snakeCase(file)
        if !common.contains(name) { return name }
        let labels = parts?.host?.split(separator: ".").filter { $0 != "www" } ?? []
        let host = SQLName.snakeCase(String(labels.dropLast().last ?? labels.last ?? ""))
        return [host, name].first { !$0.isEmpty } ?? "source"
    }

    private static let common: Set = [
        "", "feed", "feeds", "rss", "atom", "index", "main", "sitemap", "xml", "export", "all",
    ]
}
