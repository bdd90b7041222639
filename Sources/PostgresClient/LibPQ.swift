import CLibPQ
import Foundation

/// PostgreSQL's client library, which is loaded when the first connection is opened. A process whose store is a file never
/// maps it, nor the libraries for TLS, Kerberos and LDAP behind it.
enum LibPQ {
    #if os(macOS)
        private static let files = [
            "libpq.5.dylib", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib", "/usr/local/opt/libpq/lib/libpq.5.dylib",
        ]
    #else
        private static let files = ["libpq.so.5"]
    #endif

    /// Nil once the library is loaded. The first thread that asks loads it; others wait for that.
    private static let failure: PostgresError? = {
        var reason = ""
        for file in files {
            guard let message = tributary_libpq_load(file) else { return nil }
            reason = reason.isEmpty ? String(cString: message) : reason
            free(message)
        }
        var error = PostgresError(.configuration, "PostgreSQL's client library cannot be loaded (\(reason))")
        error.hint = "install the package libpq5, version 14 or later"
        return error
    }()

    /// Loads the library, once in a process.
    ///
    /// - Throws: ``PostgresError`` of the kind `configuration`, which names the package to install.
    static func load() throws {
        if let failure { throw failure }
    }
}
