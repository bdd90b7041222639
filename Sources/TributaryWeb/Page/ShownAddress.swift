extension String {
    /// The template of an address for viewers: without its user, and without the values of its parameters, of which any
    /// may be a secret. References such as `${TOKEN}` stay as they are written.
    var shownAddress: String {
        // A template has no NUL, so that the marks of references are found again.
        var references: [Substring] = []
        let marked = replacing(/\$\{[^}]*\}/) { match in
            references.append(match.output)
            return "\u{0}\(references.count - 1)\u{0}"
        }
        let address = marked.prefix { $0 != "#" }.replacing(/:\/\/[^\/?]*@/, with: "://")
        let parts = address.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let parameters = parts.dropFirst().joined().split { $0 == "&" || $0 == ";" }.map { item in
            let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count > 1 else { return "…" }
            return pair[0] + "=" + (pair[1].wholeMatch(of: /\u{0}\d+\u{0}/) == nil ? "…" : pair[1])
        }
        let shown = parts[0] + (parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&"))
        return String(shown.replacing(/\u{0}(\d+)\u{0}/) { match in Int(match.1).map { references[$0] } ?? "" })
    }
}
