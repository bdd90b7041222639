/// A table of a TOML document: its keys in the order of their first appearance, each with its value and line.
package struct TOMLTable: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        package var key: String
        package var node: TOMLNode

        package init(key: String, node: TOMLNode) {
            self.key = key
            self.node = node
        }
    }

    /// The most keys with which a table is searched from its beginning, without an index.
    static let few = 8

    package let entries: [Entry]
    /// The positions of the keys; empty if there are few.
    private let positions: [String: Int]

    /// - Parameter entries: the first one counts where a key is given twice, which no document does.
    package init(_ entries: [Entry] = []) {
        self.entries = entries
        positions =
            entries.count <= Self.few
            ? [:] : Dictionary(entries.enumerated().map { ($1.key, $0) }) { first, _ in first }
    }

    package var keys: [String] { entries.map(\.key) }

    package var isEmpty: Bool { entries.isEmpty }

    package func node(_ key: String) -> TOMLNode? {
        if positions.isEmpty { return entries.first { $0.key == key }?.node }
        return positions[key].map { entries[$0].node }
    }

    package subscript(key: String) -> TOMLValue? { node(key)?.value }
}
