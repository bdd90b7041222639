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
