import XMLStream

/// Finds the elements that are the records of a document.
///
/// A record is the outermost element on its path that repeats within one parent and has attributes or children. The
/// elements around records are wrappers, except for these:
///
/// - An element that occurs once, as the only child of a parent whose name is its plural (`products/product`), or with
///   a name that is common for records (`item`): the document happens to hold one.
/// - The end of a chain of only children from the root (`metadata/release`), if none of its children is a record and it
///   has at least ten values of its own, or at least as many as any record in it.
/// - The end of that chain, or the root, if nothing repeats.
///
/// Texts that repeat in a wrapper (the categories of a whole feed) are left out, unless there is nothing else.
struct RecordFinder {
    private let root: ElementProfile

    init(root: ElementProfile) { self.root = root }

    /// The elements that are records, in the order of the document; never empty.
    var records: [ElementProfile] {
        let found = outermost(in: root)
        let end = endOfChain
        if found.isEmpty { return [end] }
        guard end !== root, !end.children.contains(where: isRecord), !found.contains(where: { $0 === end }) else {
            return found
        }
        let own = RecordShape(end).values.count
        return own >= 10 || found.allSatisfy { RecordShape($0).values.count <= own } ? [end] : found
    }

    private func outermost(in element: ElementProfile) -> [ElementProfile] {
        if isRecord(element) { return [element] }
        return element.isProse || element.isReferenceList ? [] : element.children.flatMap { outermost(in: $0) }
    }

    private func isRecord(_ element: ElementProfile) -> Bool {
        guard element.hasStructure else { return false }
        return element.isRecursive || element.maximum > 1 || isCalledRecord(element)
    }

    private func isCalledRecord(_ element: ElementProfile) -> Bool {
        guard let parent = element.parent, !element.children.isEmpty else { return false }
        let name = SQLName.plain(element.name.local)
        if Self.names.contains(name) { return true }
        return parent.children.count == 1
            && Self.isPlural(SQLName.plain(parent.name.local), of: name)
    }

    /// `products` or `productlist` of `product`, `entries` of `entry`, `tupdateproducts` of `product`.
    private static func isPlural(_ plural: String, of name: String) -> Bool {
        let stem = name.hasSuffix("y") ? String(name.dropLast()) : name
        return ["s", "es", "ies", "list", "set", "collection", "array"].contains { ending in
            plural.hasSuffix(name + ending) || ending == "ies" && plural.hasSuffix(stem + ending)
        }
    }

    private static let names: Set = ["item", "entry", "record", "row", "product", "offer"]

    /// The end of the chain of only children from the root; the root where it has values of its own.
    private var endOfChain: ElementProfile {
        var end = root
        while end.children.count == 1, let child = end.children.first, child.maximum == 1, !child.children.isEmpty,
            !child.isProse, end.text.filled == 0, end.data.allSatisfy({ $0.name.local == "version" })
        {
            end = child
        }
        return end
    }
}

extension ElementProfile {
    /// True for `rdf:Seq` and similar: the list of contents of an RSS 1.0 feed, which names the records that follow.
    fileprivate var isReferenceList: Bool {
        name.namespace == "http://www.w3.org/1999/02/22-rdf-syntax-ns#" && ["Seq", "Bag", "Alt"].contains(name.local)
    }
}
