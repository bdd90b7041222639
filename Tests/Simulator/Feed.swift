import FeedModel
import Foundation
import TestSupport

/// A document that a publisher changes from time to time, with everything that it ever was.
final class Feed {
    enum Validators: CaseIterable {
        case tag, weakTag, date, both, none
    }

    struct Version {
        /// The items' names, by their ids.
        var items: [Int: String]
        var changedAt: Date
        /// SHA-256 of the document, in hexadecimal digits.
        let digest: String

        init(_ items: [Int: String], _ changedAt: Date) {
            self.items = items
            self.changedAt = changedAt
            digest = SHA256.digest(of: Data(Self.document(items).utf8)).hexadecimal
        }

        var document: String { Self.document(items) }

        static func document(_ items: [Int: String]) -> String {
            "<items>"
                + items.sorted { $0.key < $1.key }.map { "<item id='\($0.key)'><name>\($0.value)</name></item>" }
                .joined() + "</items>"
        }

        /// As the auditor reads them from the table.
        var rows: [String: String] { items.reduce(into: [:]) { $0["\($1.key)"] = $1.value } }
    }

    let source: String
    /// The key of its request.
    let key: String
    let host: String
    let path: String
    let table: String
    let mirrors: Bool
    let validators: Validators
    /// True where it is declared to come in pages, which it does now and then.
    let isPaged: Bool
    /// Never empty.
    private(set) var versions: [Version]
    /// Where it has moved to for good, and how often it has moved; nil for the declared address.
    private var place: (host: String, number: Int)?
    private let seed: UInt64

    init(
        source: String, key: String, host: String, path: String, table: String, mirrors: Bool, validators: Validators,
        isPaged: Bool, seed: UInt64
    ) {
        self.source = source
        self.key = key
        self.host = host
        self.path = path
        self.table = table
        self.mirrors = mirrors
        self.validators = validators
        self.isPaged = isPaged
        self.seed = seed
        versions = []
        versions = [Version([1: "n0", 2: "n0"], SimulatedClock.epoch - 3600)]
    }

    var current: Int { versions.count - 1 }

    /// Publishes another version: sometimes one with the same items.
    ///
    /// - Parameter number: that of the change, which decides what it is.
    func change(_ number: Int, at time: Date) {
        var random = SplitMix64(seed: seed &+ UInt64(number))
        var items = versions[current].items
        let ids = items.keys.sorted()
        switch Int.random(in: 0..<10, using: &random) {
        case 0: break
        case 1: items = items.filter { _ in random.oneIn(5) }
        case 2...4: items[Int.random(in: 1...12, using: &random)] = "n\(number)"
        case 5...6: if let id = ids.randomElement(using: &random) { items[id] = nil }
        default: for id in ids where random.oneIn(2) { items[id] = "n\(number)" }
        }
        versions.append(Version(items, time))
    }

    // MARK: - Addresses

    /// Moves it for good, to another address or back.
    func move(_ number: Int, to host: String?) { place = host.map { ($0, number) } }

    var address: String { place.map { "http://\($0.host)\(path)/moved\($0.number)" } ?? "http://\(host)\(path)" }

    /// Returns where a former address leads; nil where it is no former address.
    func address(after url: URL) -> String? {
        guard url.query == nil, !url.path.hasSuffix("/elsewhere"), url.absoluteString != address else { return nil }
        return address
    }

    // MARK: - Pages

    private static let itemsPerPage = 3

    /// Returns a page of a version, and the address of the next one.
    func page(_ number: Int, of version: Int, at url: URL) -> (document: String, next: String?) {
        let items = versions[version].items.sorted { $0.key < $1.key }
        let rest = items.dropFirst((number - 1) * Self.itemsPerPage)
        let document = Version.document(
            Dictionary(uniqueKeysWithValues: rest.prefix(Self.itemsPerPage).map { ($0.key, $0.value) }))
        let next = "http://\(url.host ?? host)\(url.path)?version=\(version)&page=\(number + 1)"
        return (document, rest.count > Self.itemsPerPage ? next : nil)
    }

    /// Returns the page at an address; nil for that of the whole.
    func page(at url: URL) -> (document: String, next: String?)? {
        let numbers = (url.query ?? "").split(separator: "&").compactMap {
            $0.split(separator: "=").last.flatMap { Int($0) }
        }
        guard numbers.count == 2, versions.indices.contains(numbers[0]) else { return nil }
        return page(numbers[1], of: numbers[0], at: url)
    }

    // MARK: - Validators

    func tag(_ version: Int) -> String? {
        switch validators {
        case .tag, .both: "\"\(version)\""
        case .weakTag: "W/\"\(version)\""
        case .date, .none: nil
        }
    }

    func lastModified(_ version: Int) -> String? {
        guard validators == .date || validators == .both else { return nil }
        return Self.written(versions[version].changedAt)
    }

    /// Returns true where a request's conditions are those of the current version.
    func isCurrent(tag: String?, modified: String?) -> Bool {
        if let tag { return tag == self.tag(current) }
        return modified != nil && modified == lastModified(current)
    }

    /// Returns the version for which stored validators, or a stored digest, stand; nil where they stand for none. Of the
    /// versions of one second it is the last.
    func version(tag: String?, modified: String?, digest: String?) -> Int? {
        if tag != nil { return versions.indices.last { self.tag($0) == tag } }
        if modified != nil { return versions.indices.last { lastModified($0) == modified } }
        return digest.flatMap { digest in versions.indices.last { versions[$0].digest == digest } }
    }

    /// Writes a time as HTTP does (RFC 9110, section 5.6.7).
    static func written(_ date: Date) -> String {
        var seconds = time_t(date.timeIntervalSince1970.rounded(.down))
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let day = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][Int(parts.tm_wday)]
        let month = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"][
            Int(parts.tm_mon)]
        return
            "\(day), \(two(parts.tm_mday)) \(month) \(1900 + parts.tm_year) "
            + "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT"
    }
}
