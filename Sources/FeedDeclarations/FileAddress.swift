import Foundation

/// A `file:` address on this machine.
package struct FileAddress: Sendable {
    package let path: String

    package static func isFile(_ text: String) -> Bool { text.lowercased().hasPrefix("file:") }

    /// - Throws: ``WebAddress/Problem``.
    package init(_ text: String) throws(WebAddress.Problem) {
        try WebAddress.check(text)
        guard let url = URL(string: text), url.scheme?.lowercased() == "file" else {
            throw WebAddress.Problem(description: "it is not a file: URL")
        }
        guard ["", "localhost"].contains(url.host?.lowercased() ?? "") else {
            throw WebAddress.Problem(
                description: "it names another host; write file:///PATH, with three strokes")
        }
        guard url.path.hasPrefix("/"), !url.path.utf8.contains(0) else {
            throw WebAddress.Problem(description: "it names no absolute path")
        }
        path = url.path
    }
}
