/// The included files, by the sources and hooks that they declare.
struct IncludedTables: Sendable, Equatable {
    /// By the names of the tables: `sources`, `shop`.
    private var files: [[String]: String] = [:]

    /// Returns the included file that has a key; nil where the main file has it.
    ///
    /// - Parameter names: those in the path of the key.
    func file(of names: [String]) -> String? { files.isEmpty ? nil : files[Array(names.prefix(2))] }

    func contains(_ file: String) -> Bool { files.values.contains(file) }

    mutating func add(_ table: [String], in file: String) { files[table] = file }
}
