import Foundation

/// How many requests may be in progress at a host, and how soon one may follow the other: what `[hosts]` declares,
/// and `[daemon] per_host` for all other hosts.
public struct HostRules: Sendable, Equatable {
    package struct Rule: Sendable, Equatable {
        package var perHost: Int?
        /// The time from the beginning of a request to that of the next.
        package var pace: Duration?
    }

    /// By hosts' names in lower case, `www.example.com`, or with a port, `www.example.com:8080`.
    private var rules: [String: Rule]
    private var perHost: Int

    package init(perHost: Int, _ rules: [String: Rule] = [:]) {
        self.perHost = perHost
        self.rules = rules
    }

    /// Returns the name under which an origin is counted: the host for which there is a rule, with all its ports and
    /// schemes, or the origin itself.
    package func key(of origin: Origin) -> String {
        guard !rules.isEmpty, !origin.isFile else { return origin.description }
        let host = Self.name(of: origin.host)
        let withPort = "\(host):\(origin.port)"
        return rules[withPort] != nil ? withPort : rules[host] == nil ? origin.description : host
    }

    /// Returns the name under which a host's rules are, however it is spelt: without the dot that may end it, and of an
    /// address the usual form.
    package static func name(of host: String) -> String {
        if let address = IPAddress(literal: host) { return address.bytes.count == 4 ? "\(address)" : "[\(address)]" }
        return host.hasSuffix(".") ? String(host.dropLast()) : host
    }

    /// Returns the limit of concurrent requests for a key.
    package func limit(at key: String) -> Int { rules[key]?.perHost ?? perHost }

    /// Returns the time between requests for a key; nil if none is declared.
    package func pace(at key: String) -> Duration? { rules[key]?.pace }

    /// True if any host has a pace.
    package var havePace: Bool { rules.contains { $0.value.pace != nil } }

    /// The names under which hosts with a pace are counted.
    package var pacedKeys: [String] { rules.filter { $0.value.pace != nil }.map(\.key) }
}
