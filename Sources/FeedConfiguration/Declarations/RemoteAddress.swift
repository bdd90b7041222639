package import FeedModel
package import Foundation

/// An `sftp:`, `ftps:` or `ftp:` address: of a file, or of the files of a folder.
package struct RemoteAddress: Sendable, Equatable {
    package enum Scheme: String, Sendable, CaseIterable {
        case sftp, ftps, ftp
    }

    package let scheme: Scheme
    /// The address of the file, or of the folder, which ends with a `/`. Only what every URL may have stands in its path for itself.
    package let url: URL
    /// The pattern of the files' names in the folder; nil for an address without `*`.
    package let pattern: MemberPattern?
    /// False where the path ends with a file's name.
    package let isFolder: Bool

    package static func isRemote(_ text: String) -> Bool {
        Scheme.allCases.contains { text.lowercased().hasPrefix($0.rawValue + ":") }
    }

    /// - Throws: ``Finding``.
    package init(_ text: String) throws(Finding) {
        let url = try WebAddress(text, schemes: Scheme.allCases.map(\.rawValue)).url
        guard let scheme = url.scheme.flatMap({ Scheme(rawValue: $0.lowercased()) }) else {
            throw Finding("it is no sftp:, ftps: or ftp: URL")
        }
        guard url.query == nil, url.fragment == nil else {
            throw Finding("it has a '?' or '#' in it", help: "write %3F or %23 in a file's name")
        }
        self.scheme = scheme
        let written = url.path(percentEncoded: true)
        var parts = written.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        if parts.isEmpty { parts = [""] }
        let names = try parts.map { part throws(Finding) in try WebAddress.name(part) }
        guard !parts.dropLast().contains(where: { $0.contains("*") }) else {
            throw Finding("only the last part of its path may have a '*', as a listing is of one folder")
        }
        pattern = try parts.last.flatMap { part throws(Finding) in
            part.contains("*") ? try MemberPattern(inAddress: part.removingPercentEncoding ?? String(part)) : nil
        }
        let path = (pattern == nil ? names : names.dropLast() + [[]]).map(\.percentEncoded)
        isFolder = path.last == ""
        let port = url.port.map { ":\($0)" } ?? ""
        guard
            let built = URL(string: "\(scheme.rawValue)://\(url.hostBeforePort)\(port)/\(path.joined(separator: "/"))")
        else { throw Finding("it is not a URL (RFC 3986)") }
        self.url = built
    }

    /// Returns the address of a file in the folder.
    package func address(of name: [UInt8]) -> String { url.absoluteString + name.percentEncoded }

    /// The names of the folders and of the file in the path; the last one is empty for a folder's address.
    private var names: [[UInt8]] {
        url.path(percentEncoded: true).split(separator: "/", omittingEmptySubsequences: false).dropFirst().map {
            (try? WebAddress.name($0)) ?? []
        }
    }

    /// The path of the folder, or of the file's folder, with a `/` at its end, in the server's bytes.
    package var folderPath: [UInt8] {
        let folders = names.dropLast()
        // SFTP's commands begin in the user's folder.
        let isHome = scheme == .sftp && folders.first == Array("~".utf8)
        return (isHome ? folders.dropFirst() : [[]] + folders).flatMap { $0 + [UInt8(ascii: "/")] }
    }

    /// The name of the file; empty for a folder's address.
    package var fileName: [UInt8] { names.last ?? [] }

    /// Returns the address of a file in the folder, or in the file's folder; without names that of the folder.
    package func folderAddress(of names: [[UInt8]]) -> String {
        let text = url.absoluteString
        let folder = text.lastIndex(of: "/").map { text[...$0] } ?? text[...]
        return folder + names.map(\.percentEncoded).joined(separator: "/")
    }
}
