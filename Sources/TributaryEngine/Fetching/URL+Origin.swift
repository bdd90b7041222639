import Foundation

extension URL {
    /// `scheme://host:port`, which decides what may be sent along (RFC 6454).
    var origin: String {
        let scheme = scheme?.lowercased() ?? "http"
        return "\(scheme)://\(host?.lowercased() ?? ""):\(port ?? (scheme == "https" ? 443 : 80))"
    }
}
