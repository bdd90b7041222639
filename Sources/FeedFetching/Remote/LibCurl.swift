import CCurl
import Foundation

/// libcurl, which is loaded with the first request that needs it. A process whose feeds come over HTTP and from files never maps it,
/// nor the libraries for SSH, TLS, Kerberos and LDAP behind it.
enum LibCurl {
    #if os(macOS)
        private static let files = ["libcurl.4.dylib", "/opt/homebrew/opt/curl/lib/libcurl.4.dylib"]
    #else
        private static let files = ["libcurl.so.4"]
    #endif

    /// Nil once the library is loaded. The first thread that asks loads it; others wait for that.
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
    /// - Throws: ``FetchError``, which names the package to install.
    static func load() throws {
        if let failure { throw failure }
    }
}
