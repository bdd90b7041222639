import CCurl
import Foundation

/// libcurl, loaded with the first request to a file server. Other processes do not load it, nor its libraries for SSH,
/// TLS, Kerberos and LDAP.
enum LibCurl {
    #if os(macOS)
        private static let files = ["libcurl.4.dylib", "/opt/homebrew/opt/curl/lib/libcurl.4.dylib"]
    #else
        private static let files = ["libcurl.so.4"]
    #endif

    /// The error of loading; nil if the library is loaded. The first use loads it; concurrent uses wait.
    private static let failure: FetchError? = {
        var reason = ""
        for file in files {
            guard let message = tributary_curl_load(file) else { return nil }
            reason = reason.isEmpty ? String(cString: message) : reason
            free(message)
        }
        return FetchError(
            .address,
            "libcurl, which fetches sftp:, ftps: and ftp: addresses, cannot be loaded (\(reason)); "
                + "install the package libcurl4, version 7.85 or later")
    }()

    /// Loads the library, once in a process.
    ///
    /// - Throws: ``FetchError`` with the name of the package to install.
    static func load() throws {
        if let failure { throw failure }
    }
}
