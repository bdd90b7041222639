import FeedDeclarations
import Foundation
import NIOCore

/// Why nothing can be shown over HTTP.
package struct WebError: Error, CustomStringConvertible {
    package let description: String

    /// - Parameter key: that of `[daemon]` which declares the address.
    static func cannotListen(at address: ListenAddress, _ key: String, _ error: IOError) -> WebError {
        let reason = String(cString: strerror(error.errnoCode))
        return WebError(
            description: "[daemon] \(key): nothing can be shown at \(address): \(reason); give another address or port")
    }
}
