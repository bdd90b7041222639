import FeedModel

/// The file in which a run keeps a request's bodies until it ends, among the scratch files.
package enum ScratchBody {
    package static let suffix = ".body"

    package static func path(of source: String, index: Int, in folder: String) -> String {
        "\(folder)/\(SourceFileName.name(of: source)).\(index)\(suffix)"
    }

    /// Returns the fingerprint of the source to which a file belongs; nil for other files.
    package static func fingerprint(of file: String) -> UInt64? {
        guard file.hasSuffix(suffix) else { return nil }
        return file.split(separator: ".").first.flatMap(SourceFileName.fingerprint)
    }
}
