import XMLStream

/// Writes the paths of a mapping, and records the prefixes that they need.
///
/// A name without a prefix matches in any namespace, so a step has a prefix only where a sibling has the same local
/// name in another namespace. There, `{}` stands before a name in no namespace.
final class PathWriter {
    /// The prefixes used so far, in the order of their first use.
    private(set) var bindings: [(prefix: String, namespace: String)] = []
    private var prefixes: [String: String] = [:]
    private var used: Set<String> = ["xml"]
    private var nextNumber: [String: Int] = [:]
    private let written: [String: String]
    /// The Body of a SOAP message. Paths begin inside it, with or without an envelope around it.
    private let body: ElementProfile?
    /// True for the rows of a page, whose names are paths; see ``PageTables``.
    let isOfPage: Bool

    init(root: ElementProfile) {
        isOfPage = root.name.local == PageTables.rootName
        body = SOAPResponse(root)?.body
        var written: [String: String] = [:]
        root.visit { element in
            for name in [element.name] + element.attributes.map(\.name) {
                guard let namespace = name.namespace, written[namespace] == nil, let prefix = name.prefix else {
                    continue
                }
                written[namespace] = prefix
            }
        }
        self.written = written
    }

    /// Returns the path from the root, or from the topmost of nested elements of one name, wherever it is.
    func place(of element: ElementProfile) -> String {
        if isOfPage { return "//" + element.name.bare }
        let ancestors = Array(sequence(first: element, next: \.parent))
        if let top = ancestors.firstIndex(where: \.isRecursive) {
            return ancestors[...top].reversed().map(step).joined(separator: "/")
        }
        if let body, let end = ancestors.dropFirst().firstIndex(where: { $0 === body }) {
            return ancestors[..<end].reversed().map(step).joined(separator: "/")
        }
        return ancestors.reversed().map { "/" + step($0) }.joined()
    }

    /// Returns the path from a record to an element below it; `.` for the record itself.
    func path(_ steps: [ElementProfile]) -> String {
        steps.isEmpty ? "." : steps.map(step).joined(separator: "/")
    }

    func path(_ steps: [ElementProfile], attribute: XMLName, of element: ElementProfile) -> String {
        let hasTwin = element.attributeTwins.contains(attribute.local)
        let name = hasTwin ? qualified(attribute) : attribute.local
        return (steps.map(step) + ["@" + name]).joined(separator: "/")
    }

    private func step(_ element: ElementProfile) -> String {
        if element.hasTwin { return qualified(element.name) }
        let bare = element.name.bare
        if isOfPage { return bare }
        // No quotes are around nothing.
        if bare.isEmpty { return ElementNaming.name(bare) }
        // In quotes, it is the name of one member, and not of all of which the same element is made.
        let isAmbiguous = element.parent?.ambiguous.contains(element.name.local) ?? false
        if !isAmbiguous, ElementNaming.name(bare) == bare { return bare }
        let quote = bare.contains("'") && !bare.contains("\"") ? "\"" : "'"
        return quote + bare.replacing(quote, with: quote + quote) + quote
    }

    private func qualified(_ name: XMLName) -> String {
        guard let namespace = name.namespace else { return "{}" + name.local }
        if namespace == "http://www.w3.org/XML/1998/namespace" { return "xml:" + name.local }
        if let bound = prefixes[namespace] { return bound + ":" + name.local }
        let wish = written[namespace] ?? Self.customary[namespace] ?? "ns"
        var prefix = wish
        var number = nextNumber[wish] ?? 2
        while !used.insert(prefix).inserted {
            prefix = wish + String(number)
            number += 1
        }
        nextNumber[wish] = number
        prefixes[namespace] = prefix
        bindings.append((prefix, namespace))
        return prefix + ":" + name.local
    }

    /// Prefixes for namespaces that are mostly a document's default namespace.
    private static let customary = [
        "http://www.w3.org/2005/Atom": "atom", "http://purl.org/rss/1.0/": "rss",
        "http://www.sitemaps.org/schemas/sitemap/0.9": "sm", "http://www.w3.org/1999/xhtml": "xhtml",
    ]
}

extension ElementProfile {
    /// True if a sibling has the same name in another namespace.
    var hasTwin: Bool { parent?.twins.contains(name.bare) ?? false }
}

extension XMLName {
    /// The prefix as written; nil without one.
    var prefix: String? {
        qualified.utf8.count > local.utf8.count ? String(qualified.dropLast(local.count + 1)) : nil
    }
}
