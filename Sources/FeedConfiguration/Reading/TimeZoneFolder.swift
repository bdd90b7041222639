import FeedModel
import Foundation

/// The files of tzdata, each of which is read once.
final class TimeZoneFolder {
    /// Where Debian's package tzdata has them.
    static let defaultPath = "/usr/share/zoneinfo"

    private let path: String
    private var known: [String: Result<NamedZone, Finding>] = ["UTC": .success(.utc)]

    /// - Parameter environment: `TZDIR` names another folder, as for the C library (tzset(3)).
    init(environment: [String: String]) {
        path = environment["TZDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? Self.defaultPath
    }

    /// Returns the zone of a name such as `Europe/Berlin`.
    func zone(_ name: String) throws(Finding) -> NamedZone {
        let zone =
            known[name] ?? Result { () throws(Finding) in NamedZone(name: name, rules: try read(name)) }
        known[name] = zone
        return try zone.get()
    }

    private func read(_ name: String) throws(Finding) -> TimeZoneRules {
        guard FileManager.default.fileExists(atPath: path) else {
            throw Finding(
                "'\(name)' cannot be looked up: there is no folder \(path)", help: "install the package tzdata")
        }
        let isName =
            !name.isEmpty
            && name.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { part in
                part.first != "." && !part.isEmpty
                    && part.utf8.allSatisfy { $0.isLetterOrDigit || "_+-".utf8.contains($0) }
            }
        guard isName, let file = try? ConfigurationFile.read(named: path + "/" + name) else { throw unknown(name) }
        do {
            return try TimeZoneRules(file: file)
        } catch {
            guard !error.countsLeapSeconds else {
                throw Finding(
                    "the file \(path)/\(name) counts leap seconds, which the system's clock does not",
                    help: "write the zone's name without 'right/'")
            }
            throw Finding(
                "the file \(path)/\(name) is not a time zone file (RFC 8536)", help: "install the package tzdata again"
            )
        }
    }

    private func unknown(_ name: String) -> Finding {
        Finding(
            "'\(name)' is not a time zone in \(path)",
            help: (didYouMean(name, among: names()) ?? "write one such as \"Europe/Berlin\" or \"UTC\"")
                + " (old names are in the package tzdata-legacy)")
    }

    /// The names of zones that people write, of the list that comes with the files.
    private func names() -> [String] {
        let lists = ["zone1970.tab", "zone.tab"].lazy.compactMap {
            try? ConfigurationFile.text(named: self.path + "/" + $0)
        }
        guard let list = lists.first else { return [] }
        return ["UTC"]
            + list.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { line in
                let columns = line.split(separator: "\t")
                return columns.count > 2 ? String(columns[2]) : nil
            }
    }
}

/// A time zone by its name in tzdata.
struct NamedZone {
    var name: String
    var rules: TimeZoneRules

    static let utc = NamedZone(name: "UTC", rules: .utc)
}
