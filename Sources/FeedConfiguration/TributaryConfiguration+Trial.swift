import FeedModel

/// One source that is tried out: its document becomes rows that are shown, and nothing else.
extension TributaryConfiguration {
    /// The keys that such a source and its request may have. What others name are files, programs, credentials, and further
    /// addresses.
    private static let triedKeys = (
        source: ["cache", "time_zone", "requests"],
        request: [
            "key", "url", "format", "csv", "xlsx", "namespaces", "root", "parser", "repair", "sync", "window",
            "allow_empty", "max_skipped", "tables",
        ]
    )

    /// Reads the declaration of one source with one request. Neither variables nor files are read for it.
    ///
    /// - Parameters:
    ///   - text: what would be added to a `sources.toml`.
    ///   - store: the path of the store into which it is tried.
    /// - Throws: ``ConfigurationError`` with every mistake.
    package init(trying text: String, store: String, parsers: any BodyParsing) throws {
        let part = try ConfigurationPart(file: "sources.toml", bytes: Array(text.utf8))
        let problems = ProblemCollector(part) { [] }
        func check(_ table: TOMLTable?, at path: TOMLKeyPath, _ known: [String]) {
            for entry in table?.entries ?? [] where !known.contains(entry.key) {
                let help = "known here: \(known.sorted().joined(separator: ", "))"
                problems.report(
                    path.appending(entry.key), in: part, Finding("this key is not tried out here", help: help))
            }
        }
        check(part.document, at: TOMLKeyPath(), ["sources"])
        let sources = part.document["sources"]?.table?.entries ?? []
        for source in sources {
            let path = TOMLKeyPath().appending("sources", source.key)
            let table = source.node.value.table
            check(table, at: path, Self.triedKeys.source)
            let requests = table?["requests"]?.array ?? []
            for (index, node) in requests.enumerated() {
                check(node.value.table, at: path.appending("requests").appending(index), Self.triedKeys.request)
            }
            if requests.count > 1 { problems.report(path, "one request is tried at a time") }
        }
        part.document.forEachText { path, text in
            guard text.contains("${file:") else { return }
            problems.report(path(), "files are not read here", help: "write a value in place of ${file:…}")
        }
        if sources.count != 1 {
            problems.report(TOMLKeyPath(), "one source is tried at a time, and there are \(sources.count)")
        }
        try problems.check()
        self = try ConfigurationReader(file: part.file, bytes: part.bytes, parsers: parsers, environment: [:]).read()
        self.store = .file(store)
    }
}
