package import FeedModel
import Foundation

/// A `file:` address on this machine: of a file, or of the files of a folder that match a pattern.
package struct FileAddress: Sendable, Equatable {
    /// The path of the file; that of the folder where there is a pattern.
    package let path: String
    /// The pattern of the files' names from the folder on; nil for an address without `*`.
    package let pattern: MemberPattern?
    /// True if the address has a pattern, or ends with a `/`.
    package let isFolder: Bool

    package static func isFile(_ text: String) -> Bool { text.lowercased().hasPrefix("file:") }

    /// - Throws: ``Finding``.
    package init(_ text: String) throws(Finding) {
        try WebAddress.check(text)
        guard let url = URL(string: text), url.scheme?.lowercased() == "file" else {
            throw Finding("it is not a file: URL")
        }
        guard ["", "localhost"].contains(url.host?.lowercased() ?? "") else {
            throw Finding("it names another host", help: "write file:///PATH, with three slashes")
        }
        guard url.path.hasPrefix("/"), !url.path.utf8.contains(0) else {
            throw Finding("it names no absolute path")
        }
        (path, pattern) = try Self.parts(url)
        isFolder = pattern != nil || path != "/" && text.hasSuffix("/")
    }

    /// Splits a path before its first component with a `*`. A percent-encoded `*` is an ordinary character.
    private static func parts(_ url: URL) throws(Finding) -> (String, MemberPattern?) {
        let parts = url.path(percentEncoded: true).split(separator: "/")
        guard let first = parts.firstIndex(where: { $0.contains("*") }) else { return (url.path, nil) }
        func path(_ parts: ArraySlice<Substring>) -> String {
            parts.map { $0.removingPercentEncoding ?? String($0) }.joined(separator: "/")
        }
        return ("/" + path(parts[..<first]), try MemberPattern(inAddress: path(parts[first...])))
    }
}
