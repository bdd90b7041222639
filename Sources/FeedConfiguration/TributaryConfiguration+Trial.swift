/// One source that is tried out: its document becomes rows that are shown, and nothing else.
extension TributaryConfiguration {
    /// The keys that such a source and its request may have. What others name are files, programs, credentials, and further
    /// addresses.
    private static let triedKeys: [String: Set<String>] = [
        "": ["sources"],
        "source": ["cache", "time_zone", "requests"],
        "request": [
            "key", "url", "format", "csv", "xlsx", "namespaces", "root", "parser", "repair", "sync", "window",
            "allow_empty", "max_skipped", "tables",
        ],
    ]

    /// Reads the declaration of one source with one request. Neither variables nor files are read for it.
    ///
    /// - Parameters:
    ///   - text: what would be added to a `sources.toml`.
    ///   - store: the path of the store into which it is tried.
    /// - Throws: ``ConfigurationError`` with every mistake.
    package init(trying text: String, store: String, parsers: any BodyParsing) throws {
        let file = "sources.toml"
        let document: TOMLTable
        do throws(TOMLError) {
            document = try TOMLParser.parse(Array(text.utf8))
        } catch {
            throw ConfigurationError(problems: [.init(notTOML: error, file: file)])
        }
        var problems: [ConfigurationError.Problem] = []
        func check(_ table: TOMLTable, _ path: TOMLKeyPath, _ kind: String) {
            let known = Self.triedKeys[kind] ?? []
            for entry in table.entries where !known.contains(entry.key) {
                problems.append(
                    .init(
                        file: file, line: entry.node.line, keyPath: "\(path.appending(entry.key))",
                        finding: "this key is not tried out here",
                        help: "known here: \(known.sorted().joined(separator: ", "))"))
            }
        }
        check(document, TOMLKeyPath(), "")
        var sources = 0
        if case .table(let table)? = document["sources"] {
            for entry in table.entries {
                sources += 1
                let path = TOMLKeyPath().appending("sources").appending(entry.key)
                guard case .table(let source) = entry.node.value else { continue }
                check(source, path, "source")
                guard case .array(let requests)? = source["requests"] else { continue }
                for (index, node) in requests.enumerated() {
                    guard case .table(let request) = node.value else { continue }
                    check(request, path.appending("requests").appending(index), "request")
                }
                if requests.count > 1 {
                    problems.append(.init(file: file, keyPath: "\(path)", finding: "one request is tried at a time"))
                }
            }
        }
        document.forEachText { path, text in
            guard text.contains("${file:") else { return }
            problems.append(
                .init(
                    file: file, line: document.place(of: path())?.place.line, keyPath: "\(path())",
                    finding: "files are not read here", help: "write a value in place of ${file:…}"))
        }
        if sources != 1 {
            problems.append(.init(file: file, finding: "one source is tried at a time, and there are \(sources)"))
        }
        guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
        self = try ConfigurationReader(file: file, bytes: Array(text.utf8), parsers: parsers, environment: [:]).read()
        self.store = .file(store)
    }
}
