/// The keys that sources declare. The changelog names a row by the key that the source which changes it declares.
package struct DeclaredKeys: Sendable {
    /// The key by which a source tells the rows of a table apart.
    package struct Key: Sendable, Equatable {
        package var source: String
        /// Empty for the table's primary key.
        package var columns: [String]

        package init(source: String, columns: [String]) {
            self.source = source
            self.columns = columns
        }
    }

    private let find: @Sendable (_ table: String) -> [Key]

    /// - Parameter find: returns the keys of a table in the order of the declarations.
    package init(_ find: @escaping @Sendable (_ table: String) -> [Key] = { _ in [] }) { self.find = find }

    package func keys(of table: String) -> [Key] { find(table) }

    /// Returns the columns by which a source names rows of a table: those that it declares, or else those that another
    /// source declares; nil if none does.
    package func columns(of table: String, changedBy source: String) -> [String]? {
        let keys = find(table)
        return (keys.first { $0.source == source } ?? keys.first)?.columns
    }
}
