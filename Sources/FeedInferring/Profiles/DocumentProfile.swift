package import XMLStream

/// The structure of an XML document: the tree of its distinct element paths, with the count of each and the forms of
/// its values.
///
/// It is made while an ``XMLStreamParser`` reads the document. Memory is needed for the paths and for the hashes of
/// values that could be keys (``DigestSet``), not for the document. Used from one thread at a time, as the parser
/// is.
package final class DocumentProfile: XMLStreamHandler {
    /// The most paths of elements and of attributes. No document with a schema has so many; names that are data
    /// (`<id1234>`) make more.
    static let maximumPaths = 20_000
    /// The most bytes of all paths. A proposal writes them out.
    static let maximumBytes = 16 << 20

    /// Nil until the root element has begun.
    package private(set) var root: ElementProfile?
    // `@exclusivity(unchecked)`: one thread changes these, several times an element.
    /// The number of elements read so far.
    @exclusivity(unchecked) package private(set) var elements = 0
    @exclusivity(unchecked) private var open: [ElementProfile] = []
    private var paths = 0
    private var pathBytes = 0
    private let budget = DigestSet.Budget(limit: DigestSet.Budget.limitOfSamples)

    package override init() { super.init() }

    package override func didStartElement(in stream: XMLStreamParser) throws {
        open.last?.beginChild { trimmed(stream.textBytes(atDepth: stream.depth - 1)) }
        let element = try open.last?.child(number: stream.nameIndex) ?? profile(stream)
        elements += 1
        element.begin()
        open.append(element)
        guard !stream.attributesOfElement.isEmpty else { return }
        for (name, value) in stream.attributesOfElement.all where !name.local.contains(":") {
            var value = value
            if value.withUTF8({ element.addAttribute(name, trimmed($0), budget) }) { try countPath(name) }
        }
    }

    package override func didEndElement(in stream: XMLStreamParser) throws {
        open.removeLast().end(trimmed(stream.textBytes), isNumber: stream.isNumber, budget)
    }

    /// Returns the profile of the element that has begun, whose name is new in its parent.
    private func profile(_ stream: XMLStreamParser) throws -> ElementProfile {
        let name = stream.name
        guard stream.isSynthetic || !name.local.contains(":") else {
            throw InferenceError(
                description: "the element <\(name.qualified)> has a name that no path can name "
                    + "(Namespaces in XML 1.0, section 7)")
        }
        if let known = open.last?.child(name, number: stream.nameIndex) { return known }
        try countPath(name)
        if let parent = open.last { return parent.addChild(name, number: stream.nameIndex) }
        let first = ElementProfile(name: name, parent: nil)
        root = first
        return first
    }

    /// Counts a path of this name below the open elements.
    private func countPath(_ name: XMLName) throws {
        paths += 1
        pathBytes += open.reduce(name.bare.utf8.count) { $0 + 1 + $1.name.bare.utf8.count }
        guard paths <= Self.maximumPaths, pathBytes <= Self.maximumBytes else {
            throw InferenceError(
                description: "the document has more than \(Self.maximumPaths.grouped) different paths of elements and "
                    + "attributes, or more than \(Self.maximumBytes >> 20) MiB of them; its names seem to be data, which no "
                    + "mapping can name")
        }
    }
}

/// The reason that no mapping can be proposed for a document.
package struct InferenceError: Error, Sendable, Equatable, CustomStringConvertible {
    package var description: String

    package init(description: String) { self.description = description }
}
