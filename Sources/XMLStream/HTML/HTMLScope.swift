import CLibXML2

/// The elements that the start of an element ends, however many others are open within them: a row of a table ends the
/// row before it, with all that is open in it (HTML Living Standard, section 13.2.6.4).
struct HTMLScope {
    typealias Name = UnsafePointer<UInt8>

    /// The elements that begin the scope.
    private let names: [StaticString]
    /// The elements that they end; nil for all within the nearest of the ``bounds``.
    private let ends: [StaticString]?
    /// The elements beyond which nothing ends.
    private let bounds: [StaticString]

    private static let blocks: [StaticString] = [
        "html", "body", "table", "td", "th", "caption", "template", "object", "button", "div", "section", "article",
        "main", "aside", "header", "footer", "nav", "form", "fieldset", "blockquote", "figure", "details", "center",
    ]

    private static let all = [
        HTMLScope(
            names: ["td", "th"], ends: nil, bounds: ["tr", "tbody", "thead", "tfoot", "table", "template"]),
        HTMLScope(names: ["tr"], ends: nil, bounds: ["tbody", "thead", "tfoot", "table", "template"]),
        HTMLScope(
            names: ["tbody", "thead", "tfoot", "caption", "colgroup"], ends: nil, bounds: ["table", "template"]),
        HTMLScope(names: ["li"], ends: ["li"], bounds: ["ul", "ol", "menu", "dir"] + blocks),
        HTMLScope(names: ["dt", "dd"], ends: ["dt", "dd"], bounds: ["dl"] + blocks),
        HTMLScope(names: ["p"], ends: ["p"], bounds: ["ul", "ol", "li", "dl", "dt", "dd"] + blocks),
    ]

    /// Returns the scope that an element begins; nil for an element that ends no other.
    static func opened(by name: Name) -> HTMLScope? { all.first { contains(name, $0.names) } }

    /// Returns the place of the outermost element that ends; nil if none does.
    ///
    /// - Parameter open: the names of the open elements from the root, without the one that begins.
    func firstClosed(of open: UnsafeMutableBufferPointer<Name?>) -> Int? {
        for place in open.indices.reversed() {
            guard let name = open[place] else { return nil }
            // There is one at most, as each has ended the one before it.
            if let ends, Self.contains(name, ends) { return place }
            if Self.contains(name, bounds) { return ends == nil && place + 1 < open.count ? place + 1 : nil }
        }
        return nil
    }

    static func isRoot(_ name: Name) -> Bool { isEqual(name, "html") }

    /// True for the elements that are around all that is shown.
    static func isOuter(_ name: Name) -> Bool { isEqual(name, "html") || isEqual(name, "body") }

    private static func contains(_ name: Name, _ others: [StaticString]) -> Bool {
        others.contains { isEqual(name, $0) }
    }

    /// Compares the first letters before the names: a deep page asks this for each open element.
    private static func isEqual(_ name: Name, _ other: StaticString) -> Bool {
        name.pointee == other.utf8Start.pointee && xmlStrEqual(name, other.utf8Start) == 1
    }
}
