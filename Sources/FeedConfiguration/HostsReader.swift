import FeedModel
import Foundation

/// Reads `[hosts]`: how many requests a host gets at the same time, and how often.
struct HostsReader {
    let table: DeclarationReader

    func read() -> [String: HostRules.Rule] {
        var rules: [String: HostRules.Rule] = [:]
        for name in table.keysInOrder {
            guard let host = table.table(name, of: HostKeys.self) else { continue }
            let rule = HostRules.Rule(
                perHost: host[HostKeys.all.perHost],
                pace: host[HostKeys.all.pace].flatMap { $0 > .zero ? $0 : nil })
            host.finish()
            guard let key = Self.key(name) else {
                table.report(
                    name,
                    "'\(name.shortened(to: ConfigurationLimits.shownAddress))' is not a host",
                    help: "write "
                        + "[hosts.\"www.example.com\"], or with a port [hosts.\"www.example.com:8080\"]")
                continue
            }
            if rules.updateValue(rule, forKey: key) != nil {
                table.report(name, "the host is declared twice, in different spellings")
            }
        }
        return rules
    }

    /// Returns the name under which a host's rules are looked up; nil for what is no host.
    private static func key(_ name: String) -> String? {
        guard !name.contains("/"), !name.contains("@"), let url = try? WebAddress("http://" + name).url,
            url.host != nil, url.query == nil, url.fragment == nil
        else { return nil }
        let host = HostRules.name(of: url.hostBeforePort)
        return url.port.map { "\(host):\($0)" } ?? host
    }
}
