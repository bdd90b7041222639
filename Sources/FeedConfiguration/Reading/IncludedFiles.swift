import FeedModel
import Foundation

/// The files that the patterns of `include` name.
///
/// A pattern names files of one folder: `*` and `?` stand in its last component. It is relative to the folder of the
/// file that has it.
struct IncludedFiles {
    /// The most files.
    private static let limit = 10_000
    /// The most names in a folder that is searched for files.
    private static let folderLimit = 100_000

    private let main: String
    /// The paths without links of the files so far, by which one that is named twice is read once.
    private var known: Set<String>
    private var count = 0
    /// The bytes that further files may have: with the main file, all have as many as one may have.
    private var rest: Int

    init(of main: ConfigurationPart) {
        self.main = main.file
        known = [Self.target(main.file)]
        rest = ConfigurationFile.limit - main.bytes.count
    }

    /// Returns the paths that a pattern names, in the order of their names, without those that were named before.
    ///
    /// - Throws: what is wrong with the pattern.
    mutating func named(by pattern: String) throws(Finding) -> [String] {
        let cut = pattern.lastIndex(of: "/").map { pattern.index(after: $0) } ?? pattern.startIndex
        let (folder, name) = (String(pattern[..<cut]), String(pattern[cut...]))
        guard !name.isEmpty else { throw Finding("'\(pattern)' names no file", help: "write \"\(pattern)*.toml\"") }
        guard pattern.utf8.count <= MemberPattern.lengthLimit else {
            throw Finding("has more than \(MemberPattern.lengthLimit) bytes")
        }
        guard !Self.isPattern(folder) else {
            throw Finding(
                "'\(pattern)' has a wildcard in the name of a folder", help: "write a pattern for each folder")
        }
        let paths =
            Self.isPattern(name)
            ? try Self.names(like: name, in: path(folder)).map { path(folder + $0) } : [path(pattern)]
        let further = paths.filter { known.insert(Self.target($0)).inserted }
        count += further.count
        guard count <= Self.limit else {
            throw Finding(
                "up to '\(pattern)', more than \(Self.limit) files are named", help: "declare several sources in each")
        }
        return further
    }

    /// Returns the content of a file.
    ///
    /// - Throws: ``Finding`` if it cannot be read; ``ConfigurationError`` if it is not TOML, or empty.
    mutating func part(_ file: String) throws -> ConfigurationPart {
        let bytes = try ConfigurationFile.read(named: file)
        rest -= bytes.count
        guard rest >= 0 else {
            throw Finding(
                "up to the file \(file), there are more than \(ByteSize.text(ConfigurationFile.limit)), the limit of all "
                    + "files together")
        }
        let part = try ConfigurationPart(file: file, bytes: bytes)
        try part.checkIsNotEmpty()
        return part
    }

    private static func isPattern(_ text: String) -> Bool { text.contains { $0 == "*" || $0 == "?" } }

    /// Returns a path relative to the folder of the main file, which may itself be relative.
    private func path(_ relative: String) -> String {
        guard !relative.hasPrefix("/"), let end = main.lastIndex(of: "/") else { return relative }
        return main[...end] + relative
    }

    private static func target(_ path: String) -> String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path }

    /// Returns the names in a folder that match a pattern; none where there is no such folder. A name that begins with a
    /// dot matches only a pattern that does: editors give such names to files that they are writing.
    private static func names(like text: String, in folder: String) throws(Finding) -> [String] {
        guard let stream = opendir(folder.isEmpty ? "." : folder) else {
            if errno == ENOENT { return [] }
            throw Finding("the folder \(folder) cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { closedir(stream) }
        let pattern = MemberPattern(text)
        var names: [String] = []
        var count = 0
        while let entry = readdir(stream) {
            count += 1
            guard count <= folderLimit else {
                throw Finding("the folder \(folder) has more than \(folderLimit) names", help: "name another folder")
            }
            let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            guard let name = String(validating: bytes, as: UTF8.self), text.hasPrefix(".") || !name.hasPrefix("."),
                pattern.matches(name)
            else { continue }
            names.append(name)
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
