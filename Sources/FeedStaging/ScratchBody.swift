import Foundation

/// The file in which a run keeps a request's bodies until it ends, among the scratch files.
package enum ScratchBody {
    package static let suffix = ".body"

    package static func path(of source: String, index: Int, in folder: String) -> String {
        let name = source.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? source
        return "\(folder)/\(name).\(index)\(suffix)"
    }

    /// Returns the source to which a file belongs; nil for other files.
    package static func source(of file: String) -> String? {
        guard file.hasSuffix(suffix) else { return nil }
        return file.dropLast(suffix.count).split(separator: ".").first.flatMap { String($0).removingPercentEncoding }
    }
}
