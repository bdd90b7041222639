import CLibPQ
import Foundation

/// A connection string of libpq's, as it was given, and what must not be shown of it.
struct ConnectionString {
    let text: String
    /// All that libpq would connect by: the string, its service, the environment, the password file, libpq's defaults.
    let options: [String: String]
    private let secrets: Secrets
    /// False if the text is no connection string, or its service is not to be found.
    let isRead: Bool

    init(_ text: String) throws {
        guard !text.utf8.contains(0) else {
            throw PostgresError(.connecting, "the connection string holds U+0000")
        }
        self.text = text
        options = Self.resolve(text)
        let passwords = [options["password"], options["sslpassword"]].compactMap { $0 }
        // The one option that always has a value.
        isRead = options["port"] != nil
        secrets = Secrets(text, passwords: passwords, isRead: isRead)
    }

    /// The parts that a message may show.
    var address: ServerAddress {
        ServerAddress(
            host: secrets.redacted(part: options["host"] ?? options["hostaddr"] ?? ""),
            port: secrets.redacted(part: options["port"] ?? ""),
            database: secrets.redacted(part: options["dbname"] ?? options["user"] ?? ""),
            user: secrets.redacted(part: options["user"] ?? ""))
    }

    /// The text without what may be a password, for whatever libpq or the server say.
    func redacted(_ message: String) -> String { secrets.redacted(message) }

    /// A sentence about a password that is not written as URIs want it; nil if it is.
    var advice: String? {
        secrets.isPasswordBroken
            ? "the password in the URI has characters that must be written otherwise there: % as %25, @ as %40, / as %2F, : as %3A, # as %23, ? as %3F, a space as %20"
            : nil
    }

    /// Connects nowhere: libpq fills in all parameters, and then finds that the host is none. It warns about an unsafe password
    /// file on standard error, which once is enough for.
    private static func resolve(_ text: String) -> [String: String] {
        let parameters = ConnectionParameters([
            ("dbname", text), ("host", "none"), ("hostaddr", "none"), ("passfile", "/nonexistent"),
        ])
        let connection = parameters.withPointers { PQconnectStartParams($0, $1, 1) }
        defer { PQfinish(connection) }
        var options = values(PQconninfo(connection))
        // The two that were replaced.
        options["host"] = nil
        options["hostaddr"] = nil
        let given = isConnectionString(text) ? values(PQconninfoParse(text, nil)) : [:]
        let environment = ProcessInfo.processInfo.environment
        for (keyword, variable) in [("host", "PGHOST"), ("hostaddr", "PGHOSTADDR")] {
            options[keyword] = given[keyword] ?? environment[variable]
        }
        return options
    }

    /// As libpq decides it; other texts are the name of a database.
    private static func isConnectionString(_ text: String) -> Bool {
        text.contains("=") || text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
    }

    private static func values(_ options: UnsafeMutablePointer<PQconninfoOption>?) -> [String: String] {
        guard let options else { return [:] }
        defer { PQconninfoFree(options) }
        var values: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val, value.pointee != 0 {
                values[String(cString: keyword)] = String(cString: value)
            }
            option += 1
        }
        return values
    }
}

/// The server and the database that a connection belongs to, as errors show them. It never holds a password.
package struct ServerAddress: Sendable, Equatable, CustomStringConvertible {
    /// A host name, an address, or the folder of a Unix socket; several where no connection came about.
    package var host: String
    package var port: String
    package var database: String
    package var user: String

    package var description: String {
        var parts: [String] = []
        if host.hasPrefix("/") || host.hasPrefix("@") {
            parts.append("on the socket \(host)/.s.PGSQL.\(port)")
        } else if !host.isEmpty {
            parts.append("at \(host)" + (port.isEmpty || host.contains(":") ? "" : ":\(port)"))
        }
        if !database.isEmpty { parts.append("database '\(database)'") }
        if !user.isEmpty { parts.append("user '\(user)'") }
        return "PostgreSQL" + (parts.isEmpty ? "" : " " + parts.joined(separator: ", "))
    }
}

/// Keywords and values as libpq takes them. A later one stands above an earlier one.
struct ConnectionParameters {
    private let pairs: [(String, String)]

    init(_ pairs: [(String, String)]) { self.pairs = pairs }

    typealias Pointers = UnsafePointer<UnsafePointer<CChar>?>

    func withPointers<Value>(_ body: (Pointers, Pointers) -> Value) -> Value {
        let copies = pairs.flatMap { [strdup($0.0), strdup($0.1)] }
        defer { for copy in copies { free(copy) } }
        let keywords = stride(from: 0, to: copies.count, by: 2).map { copies[$0].map { UnsafePointer($0) } } + [nil]
        let values = stride(from: 1, to: copies.count, by: 2).map { copies[$0].map { UnsafePointer($0) } } + [nil]
        return keywords.withUnsafeBufferPointer { keywords in
            // Each ends with a nil, so neither is empty.
            values.withUnsafeBufferPointer { body(keywords.baseAddress!, $0.baseAddress!) }
        }
    }
}
