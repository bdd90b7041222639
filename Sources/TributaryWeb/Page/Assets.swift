import FeedModel
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The page's style, script and icon, which are in the program itself. Their addresses change with them.
struct Assets: Sendable {
    private let files: [String: (type: String, bytes: [UInt8])] = [
        "page.css": ("text/css; charset=utf-8", PackageResources.page_css),
        "page.js": ("text/javascript; charset=utf-8", PackageResources.page_js),
        "icon.svg": ("image/svg+xml", PackageResources.icon_svg),
        "icon-problem.svg": ("image/svg+xml", PackageResources.icon_problem_svg),
    ]

    /// A text that changes when any of them does.
    let version: String

    init() {
        var hash = SHA256()
        for file in files.sorted(by: { $0.key < $1.key }) { hash.update(file.value.bytes) }
        version = String(hash.digest().hexadecimal.prefix(12))
    }

    func response(to name: String) -> Response? {
        guard let file = files[name] else { return nil }
        return Response(
            status: .ok,
            headers: [.contentType: file.type, .cacheControl: "private, max-age=31536000, immutable"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: file.bytes)))
    }
}
