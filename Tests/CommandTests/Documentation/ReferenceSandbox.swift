import FeedConfiguration
import FeedParsing
import Foundation
import TestSupport
import TributaryParsers

/// A folder in which parts of `sources.toml` are read as they stand in the documentation: the rest that a file needs is
/// put around them, and the files and variables that they name are there.
struct ReferenceSandbox {
    private let folder: TemporaryFolder
    private let parsers = ParserRegistry([
        .class(EurofxrefParser.self), .class(SitemapParser.self), .class(SyndicationParser.self),
    ])

    private static let request = "[[sources.shop.requests]]\n"
    private static let url = "url = \"https://example.com/feed.xml\"\n"
    private static let parser = "parser = \"SyndicationParser\"\n"
    private static let table = "[[sources.shop.requests.tables]]\n"
    private static let mapping = "table = \"article\"\nelement = \"article\"\n"

    static func with(_ body: (ReferenceSandbox) throws -> Void) async throws {
        try await withTemporaryFolder { folder in try body(ReferenceSandbox(folder)) }
    }

    private init(_ folder: TemporaryFolder) throws {
        self.folder = folder
        let files = [
            "ca.pem": TestCertificate.certificate, "client.pem": TestCertificate.certificate,
            "client.key": TestCertificate.key, "store.key": String(repeating: "ab", count: 32),
            "chat.secret": "whsec_" + Data(repeating: 7, count: 24).base64EncodedString(),
            "schema.sql": "CREATE TABLE IF NOT EXISTS firm (id INTEGER PRIMARY KEY, name TEXT);",
            "views.sql": "DROP VIEW IF EXISTS v; CREATE VIEW v AS SELECT 1;", "ask.xml": "<ask/>",
            "known_hosts": "", "id_ed25519": "key", "id_ed25519.pub": "key",
            "shop.desc": String(decoding: WireMessage.shop.bytes, as: UTF8.self),
        ]
        for (name, text) in files { try folder.write(text, to: name) }
    }

    /// Reads a whole file.
    ///
    /// - Returns: the mistakes, as `KEY: MESSAGE`.
    func problems(in text: String) throws -> [String] {
        do {
            _ = try configuration(text)
            return []
        } catch let error as ConfigurationError {
            return error.problems.map { problem in
                let message = problem.message.replacing(folder.path + "/", with: "")
                return problem.keyPath.isEmpty ? message : "\(problem.keyPath): \(message)"
            }
        }
    }

    /// Reads a whole file.
    ///
    /// - Parameter values: those of variables; others have a value that fits their name.
    /// - Throws: ``ConfigurationError``.
    func configuration(_ text: String, values: [String: String] = [:]) throws -> TributaryConfiguration {
        let path = try folder.write(text, to: "sources.toml")
        var environment: [String: String] = [:]
        for match in text.matches(of: /\$\{([A-Za-z_0-9]+)\}/) {
            environment[String(match.1)] = match.1.contains("PASSWORD") ? "word" : "https://feeds.example"
        }
        for match in text.matches(of: /\$\{file:([\w.]+)\}/)
        where !FileManager.default.fileExists(atPath: folder.file(String(match.1))) {
            try folder.write(String(repeating: "x", count: 32), to: String(match.1))
        }
        return try TributaryConfiguration(
            file: path, parsers: parsers, environment: environment.merging(values) { $1 })
    }

    /// Returns a whole file around a part of one.
    ///
    /// - Parameter header: the table that the part's first keys are of, as its page is headed; nil where the part is
    ///   a part of the file.
    static func file(around part: String, of header: String?) -> String {
        var text = part
        let keys = Set(ownKeys(of: part))
        let first = part.split(separator: "\n").first { !$0.hasPrefix("#") } ?? ""
        if first.isEmpty || first.hasPrefix("[") {
            text = parents(of: String(first)) + part
        } else if let header {
            text = opening(header, keys) + part
        }
        return completed(text)
    }

    /// Returns what must stand before a table that is within others.
    private static func parents(of line: String) -> String {
        if line.contains("requests.tables.columns") { return request + url + table + mapping }
        if line.contains("requests.tables") { return request + url }
        if line.hasPrefix("[sources."), line.contains(".requests.") { return request + url + parser }
        return ""
    }

    private static func opening(_ header: String, _ keys: Set<String>) -> String {
        func unless(_ names: String..., line: String) -> String { keys.isDisjoint(with: names) ? line : "" }
        let name = header.hasPrefix("[hosts") ? "\"www.example.com\"" : header.hasPrefix("[hooks") ? "chat" : "shop"
        let named = header.replacing("NAME", with: name)
        switch header {
        case "[[sources.NAME.requests]]":
            return request + unless("url", line: url) + unless("tables", "parser", "capture", line: parser)
        case "[[sources.NAME.requests.tables]]":
            let columns = keys.contains("table") ? "" : unless("columns", line: "columns = { id = \"@id\" }\n")
            return request + url + table + unless("table", line: "table = \"article\"\n")
                + unless("element", line: "element = \"article\"\n") + columns
        case let header where header.hasPrefix("[sources.NAME.requests.tables.columns.COLUMN"):
            let columns = "[sources.shop.requests.tables.columns]\nid = \"@id\"\n"
            let inner = header.replacing("NAME", with: "shop").replacing(".COLUMN", with: ".price", maxReplacements: 1)
            return request + url + table + mapping + columns + unless("price", line: inner + "\n")
        case "[sources.NAME.requests.soap]":
            return request + url + parser + named + "\n" + unless("name", line: "name = \"GetRates\"\n")
        case "[sources.NAME.requests.xlsx]":
            return request + url + parser + "format = \"xlsx\"\n" + named + "\n"
        case "[sources.NAME.requests.protobuf]":
            return request + url + parser + named + "\n" + unless("descriptor", line: "descriptor = \"shop.desc\"\n")
                + unless("message", line: "message = \"shop.Feed\"\n")
        case let header where header.hasPrefix("[sources.NAME.requests."):
            return request + url + parser + named + "\n"
        case "[hooks.NAME]":
            return named + "\n" + unless("on", line: "on = [\"changed\"]\n")
                + unless("run", "post", "secret", line: "run = [\"/bin/true\"]\n")
                + (keys.contains("secret") ? unless("post", line: "post = \"https://chat.example/hook\"\n") : "")
        default: return named + "\n"
        }
    }

    /// Adds requests to sources that have none, and a source where there is none.
    private static func completed(_ text: String) -> String {
        var text = text
        let sources = Set(text.matches(of: /(?m)^\[+sources\.([\w-]+)/).map { String($0.1) })
        for source in sources.sorted()
        where !text.contains("[[sources.\(source).requests]]")
            && !ownKeys(of: text, in: "[sources.\(source)]").contains("requests")
        {
            text += "\n[[sources.\(source).requests]]\n" + url
            // The source may name a parser for all its requests.
            if !ownKeys(of: text, in: "[sources.\(source)]").contains("parser") { text += parser }
        }
        return sources.isEmpty ? text + "\n" + request + url + parser : text
    }

    /// Returns the keys before the first table of a part, or of one table of it.
    private static func ownKeys(of text: String, in header: String? = nil) -> [String] {
        var lines = text.split(separator: "\n")[...]
        if let header {
            guard let start = lines.firstIndex(where: { $0.hasPrefix(header) }) else { return [] }
            lines = lines[(start + 1)...]
        }
        return lines.prefix { !$0.hasPrefix("[") }.compactMap { line in
            line.firstMatch(of: /^([\w-]+)(\.\S+)?\s*=/).map { String($0.1) }
        }
    }
}
