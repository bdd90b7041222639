import XMLStream

/// An element that is about to be decoded, with its children, so that its record type can examine it.
///
/// Valid until the record type's method returns.
public struct XMLElementView {
    let session: DecodingSession
    let node: Int32
    /// The type whose prefixes its paths use.
    let record: any XMLRecord.Type

    /// The name as written, with its prefix.
    public var name: String { session.tree.name(of: node) }

    /// The line on which the element's tag ends, counted from 1.
    public var line: Int { session.tree.line(of: node) }

    /// The element's own text without white space at either end.
    public var text: String { String(decoding: session.tree.text(of: node), as: UTF8.self) }

    /// Returns the text at a path: `element["@kind"]`, `element["info/name"]`; nil without a match.
    ///
    /// - Precondition: the path is valid in ``XMLRecord/xmlPaths``.
    public subscript(path: String) -> String? {
        let place = session.firstPlace(at: compiled(path), in: node)
        return place.exists ? String(decoding: session.tree.text(at: place), as: UTF8.self) : nil
    }

    /// Returns the elements at a path.
    ///
    /// - Precondition: the path is valid in ``XMLRecord/xmlPaths``, and does not end in an attribute.
    public func elements(_ path: String) -> [XMLElementView] {
        var nodes = FlatArray<Int32>()
        session.collect(at: compiled(path), in: node, into: &nodes)
        return (0..<nodes.count).map { XMLElementView(session: session, node: nodes[$0], record: record) }
    }

    public var children: [XMLElementView] {
        session.tree.children(of: node).map { XMLElementView(session: session, node: $0, record: record) }
    }

    private func compiled(_ path: String) -> FieldPath {
        do {
            return try session.path(path, of: record)
        } catch {
            preconditionFailure("\(error)")
        }
    }
}
