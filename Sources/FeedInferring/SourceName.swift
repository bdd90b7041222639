import Foundation

/// Names a source after the address of its document.
package enum SourceName {
    /// Returns the file's name up to its first point. Where that is a common name such as `feed`, the host's name is
    /// used.
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
