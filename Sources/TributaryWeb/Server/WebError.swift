import FeedDeclarations
import Foundation
import NIOCore

/// Why nothing can be shown over HTTP.
package struct WebError: Error, CustomStringConvertible {
    package let description: String

    static func cannotListen(at address: ListenAddress, _ error: IOError) -> WebError {
        let reason = String(cString: strerror(error.errnoCode))
        return WebError(
            description: "[daemon] listen: nothing can be shown at \(address): \(reason); give another address or port")
    }
}
