import Locking
import XMLStream

/// The state for decoding one record after another, kept for the next: the tree, the names and the types' layouts.
///
/// Not `Sendable`: it belongs to one parser, or to one call of a decoder.
final class DecodingSession {
    let tree: ElementTree
    let userInfo: [CodingUserInfoKey: any Sendable]
    /// The children that containers have noted, and the elements of lists. Emptied for every record.
    @exclusivity(unchecked) var notes = FlatArray<Int32>(capacity: 256)
    /// The field of a document's own element, which has no key.
    let root = FieldLayout(key: "", path: nil)
    /// The number of values whose `init(from:)` is running.
    @exclusivity(unchecked) var depth = 0
    private var layouts: [ObjectIdentifier: TypeLayout] = [:]
    private var paths: [PathKey: FieldPath] = [:]

    private struct PathKey: Hashable {
        let text: String
        let record: ObjectIdentifier
    }

    init(userInfo: [CodingUserInfoKey: any Sendable] = [:], byteLimit: Int = ElementTree.byteLimit) {
        tree = ElementTree(byteLimit: byteLimit)
        self.userInfo = userInfo
    }

    /// Empties the session for the next record.
    func clear() {
        tree.clear()
        notes.removeAll()
    }

    func layout(for type: Any.Type) throws -> TypeLayout {
        if let layout = layouts[ObjectIdentifier(type)] { return layout }
        let layout = try TypeLayout(type, names: tree.names)
        layouts[layout.id] = layout
        return layout
    }

    /// Returns the path for a text, parsed once.
    ///
    /// - Parameter record: the type that uses the path, with its prefixes.
    func path(_ text: String, of record: any XMLRecord.Type) throws -> FieldPath {
        let key = PathKey(text: text, record: ObjectIdentifier(record))
        if let path = paths[key] { return path }
        let path = FieldPath(
            try XMLPath.ofRecord(text), text: text, names: tree.names, namespaces: record.xmlNamespaces)
        paths[key] = path
        return path
    }

    func view(_ node: Int32, for record: any XMLRecord.Type) -> XMLElementView {
        XMLElementView(session: self, node: node, record: record)
    }
}

/// The sessions that a decoder is not using at the moment, ready for reuse.
final class DecodingSessionPool: Sendable {
    /// A session and its memory, passed from one call to the next.
    ///
    /// `@unchecked Sendable`: a session is either in the pool or used by one call, never both.
    private struct Spare: @unchecked Sendable {
        let session: DecodingSession
    }

    /// The most names, and the most bytes in a record, with which a session is kept.
    private static let nameLimit = 2_000
    private static let byteLimit = 1 << 20

    private let spares = Mutex<[Spare]>([])

    func withSession<Result>(
        _ userInfo: [CodingUserInfoKey: any Sendable], _ body: (DecodingSession) throws -> Result
    ) rethrows -> Result {
        let session = spares.withLock { $0.popLast() }?.session ?? DecodingSession(userInfo: userInfo)
        defer {
            if session.tree.names.count <= Self.nameLimit, session.tree.byteCount <= Self.byteLimit {
                spares.withLock { if $0.count < 4 { $0.append(Spare(session: session)) } }
            }
        }
        return try body(session)
    }
}
