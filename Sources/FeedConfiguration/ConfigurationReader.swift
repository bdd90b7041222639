import FeedModel
import Foundation

/// Turns the document of `sources.toml` into a ``TributaryConfiguration``, or reports every mistake in it.
package struct ConfigurationReader {
    private let main: ConfigurationPart
    package let parsers: any BodyParsing
    private let folder: String
    private let interpolation: Interpolation
    private let problems: ProblemCollector
    /// How long runs are kept.
    private var history = StoreKeys.all.history.standard
    /// Where the service manager has a folder for what the service writes (`StateDirectory=`, systemd.exec(5)), that one.
    private let stateFolder: String?

    /// - Parameter bytes: the bytes of the file.
    /// - Throws: ``ConfigurationError`` if they are not TOML.
    init(file: String, bytes: [UInt8], parsers: any BodyParsing, environment: [String: String]) throws {
        main = try ConfigurationPart(file: file, bytes: bytes)
        self.parsers = parsers
        folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
        interpolation = Interpolation(environment: environment, folder: folder)
        problems = ProblemCollector(main) { [interpolation] in interpolation.secrets }
        stateFolder = environment["STATE_DIRECTORY"]?.split(separator: ":").first.map(String.init)
    }

    /// - Parameter names: the sources that are read, and reported on; all where there are none, or where a host has a
    ///   pace: then each source may have to wait for others.
    func read(only names: [String] = []) throws -> TributaryConfiguration {
        try main.checkIsNotEmpty()
        main.forEachNUL { problems.report($0, ConfigurationPart.nul) }
        try problems.check()
        let (keys, storeKeys, daemonKeys) = (FileKeys.all, StoreKeys.all, DaemonKeys.all)
        let root = reader(try main.including(reader(main.document, FileKeys.table)), FileKeys.table)
        let (store, daemon, defaults) = (
            section(keys.store, root), section(keys.daemon, root), section(keys.defaults, root)
        )
        var configuration = configuration(store)
        configuration.encryptionKey = store[storeKeys.encryptionKey]
        interpolation.encryptionKey = configuration.encryptionKey
        configuration.history = store.value(of: storeKeys.history)
        configuration.schemaPath = store[storeKeys.schema].map(absolute)
        configuration.schemaAfterPath = store[storeKeys.schemaAfter].map(absolute)
        configuration.connections = store.value(of: storeKeys.connections)
        configuration.concurrency = daemon.value(of: daemonKeys.concurrency)
        configuration.perHost = daemon.value(of: daemonKeys.perHost)
        configuration.metricsPerSource = daemon.value(of: daemonKeys.metricsPerSource)
        configuration.web = daemon.web()
        configuration.health = daemon.health(beside: configuration.web)
        let hosts = root.table(keys.hosts).map { HostsReader(table: $0).read() } ?? [:]
        configuration.hosts = HostRules(perHost: configuration.perHost, hosts)

        var reader = self
        reader.history = configuration.history
        reader.finish(defaults)
        reader.checkTimes(defaults)
        reader.checkHistory(defaults)
        configuration.allowsPrivate = defaults.value(of: SourceKeys.all.allowPrivate)
        let (sources, hooks) = (root.table(keys.sources), root.table(keys.hooks))
        let chosen = names.isEmpty || configuration.hosts.havePace ? nil : Set(names)
        let declared = sources?.keys.filter { chosen?.contains($0) ?? true }.compactMap { name in
            sources?.table(name, of: SourceKeys.self, within: defaults).flatMap { reader.source(name, $0) }
        }
        configuration = configuration.with(declared ?? [])
        configuration.hooks =
            hooks?.keys.compactMap { name in
                hooks?.table(name, of: HookKeys.self).flatMap {
                    HookReader(name: name, table: $0, folder: folder, sources: sources?.keys ?? [], parsers: parsers)
                        .read()
                }
            } ?? []
        configuration.included = problems.included
        store.finish()
        daemon.finish()
        root.finish()
        checkMirrors(configuration)
        checkVersions(configuration)
        try problems.check()
        let requests = configuration.sources.flatMap(\.requests)
        let proxyPasswords = requests.compactMap { $0.transport.proxy?.password?.value }
        configuration.redactor = Redactor(
            secrets: interpolation.secrets.union(proxyPasswords),
            authentications: Set(requests.compactMap(\.authentication)))
        return configuration
    }

    /// Reads where the store is, and which sources there are. Mistakes elsewhere than in `[store]` are passed over.
    ///
    /// - Returns: the configuration, and false where the sources of included files are not known.
    /// - Throws: ``ConfigurationError`` with the mistakes in `[store]`, or of an empty file.
    func readStore() throws -> (configuration: TributaryConfiguration, isWhole: Bool) {
        try main.checkIsNotEmpty()
        let keys = FileKeys.all
        let file = reader(main.document, FileKeys.table)
        let store = section(keys.store, file)
        var configuration = configuration(store)
        // An unknown key may be a misspelt `path`.
        store.finish(reads: false)
        try problems.check()
        let document = try? main.including(file)
        let root = reader(document ?? main.document, FileKeys.table)
        let defaults = root.table(keys.defaults)
        let sources = root.table(keys.sources)
        let unread = sources?.keys.map { name in
            guard let table = sources?.table(name, of: SourceKeys.self, within: defaults) else {
                return SourceDeclaration(unread: name)
            }
            let (cache, schedule) = times(table)
            return SourceDeclaration(
                unread: name, cache: cache ?? Self.defaultCache, schedule: schedule,
                freshWithin: table[SourceKeys.all.freshWithin], isEnabled: table.value(of: SourceKeys.all.enabled))
        }
        configuration = configuration.with(unread ?? [])
        configuration.redactor = Redactor(secrets: interpolation.secrets)
        return (configuration, document != nil)
    }

    /// Returns the configuration of a store without sources.
    private func configuration(_ store: DeclarationReader) -> TributaryConfiguration {
        let keys = StoreKeys.all
        let path = store.value(of: keys.path)
        return TributaryConfiguration(
            file: main.file, store: store[keys.url].map { .server($0.value) } ?? .file(absolute(path)),
            workFolder: store[keys.work].map(absolute) ?? (stateFolder ?? folder) + "/tributary-work")
    }

    /// Returns a table of the file, empty where there is none.
    private func section(_ key: TableKey, _ root: DeclarationReader) -> DeclarationReader {
        root.table(key) ?? reader(TOMLTable(), key.entry.type.group?.table)
    }

    /// - Throws: ``ConfigurationError`` with the mistakes in the addresses, where none is valid.
    func healthAddress() throws -> ListenAddress? {
        let keys = DaemonKeys.all
        guard let daemon = reader(main.document, FileKeys.table).table(FileKeys.all.daemon) else { return nil }
        if let address = daemon[keys.health] ?? daemon[keys.listen] { return address }
        try problems.check()
        return nil
    }

    private func reader(_ nodes: TOMLTable, _ known: KeyTable?) -> DeclarationReader {
        DeclarationReader(nodes, at: TOMLKeyPath(), known: known, problems: problems, interpolation: interpolation)
    }

    func absolute(_ path: String) -> String {
        URL(fileURLWithPath: path, relativeTo: URL(fileURLWithPath: folder, isDirectory: true)).standardizedFileURL.path
    }

    /// The time between runs where the file gives none, and the server suggests none.
    private static let defaultCache = Duration.seconds(15 * 60)

    /// Returns what the nearest table with `cache` or `schedule` gives of them, by the clocks of a source's own zone.
    private func times(_ table: DeclarationReader) -> (cache: Duration?, schedule: CronSchedule?) {
        let keys = SourceKeys.all
        let giver = table.nearest(with: keys.cache, keys.schedule)
        let zone = table.value(of: keys.timeZone)
        return (giver?.own(keys.cache), giver?.own(keys.schedule)?.moved(to: zone.name, zone.rules))
    }

    /// Checks `cache` and `fresh_within` of a source or of `[defaults]` against each other.
    private func checkTimes(_ table: DeclarationReader) {
        let keys = SourceKeys.all
        let cache = times(table).cache
        let rest = cache ?? .zero
        guard let freshWithin = table[keys.freshWithin], freshWithin <= rest,
            table.has(keys.freshWithin) || table.has(keys.cache)
        else { return }
        let key = table.has(keys.freshWithin) ? keys.freshWithin : keys.cache
        if cache == nil { return table.report(key, "must be above 0") }
        table.report(
            key, "the source would be stale between two good runs",
            help: "'fresh_within' must be longer than 'cache', \(rest.configured)")
    }

    /// Checks `keep_history` of a source or of `[defaults]` against how long runs are kept.
    private func checkHistory(_ table: DeclarationReader) {
        let key = SourceKeys.all.keepHistory
        guard table.has(key), let time = table[key]?.time, time < history else { return }
        table.report(
            key,
            "'\(time.configured)' is shorter than history = \"\(history.configured)\" of [store], for which runs are kept "
                + "with their before-images", help: "set a longer time, or keep_history = true")
    }

    /// Reports what is wrong with the keys that a table gives to requests, and those that it cannot have.
    private func finish(_ table: DeclarationReader) {
        let keys = RequestKeys.all
        if !table.has(keys.tables), let parser = table.own(keys.parser), parser != BodyContent.mirroredName,
            !parsers.names.contains(parser)
        {
            table.report(
                keys.parser, "the parser '\(parser)' is not registered",
                help: didYouMean(parser, among: parsers.names)
                    ?? "registered: \(parsers.names.joined(separator: ", "))")
        }
        table.finish()
    }

    private func source(_ name: String, _ table: DeclarationReader) -> SourceDeclaration? {
        let keys = SourceKeys.all
        let source = table
        let isEnabled = table.value(of: keys.enabled)
        let requests = table.tables(keys.requests)
        finish(table)
        checkTimes(table)
        checkHistory(table)
        guard let requests else { return nil }
        if requests.isEmpty {
            table.report(keys.requests, "has no request", help: "add a [[sources.\(name).requests]]")
        }
        var taken: Set<String> = []
        let history = source.value(of: keys.keepHistory)
        let declarations = requests.enumerated().compactMap { index, table -> RequestDeclaration? in
            var request = request(index, table)
            request?.keepsHistory = history.isKept
            request?.allowsPrivate = source.value(of: keys.allowPrivate)
            if let zone = source[keys.timeZone] { request?.assumeTimeZone(zone.name, zone.rules) }
            if let key = request?.key, !taken.insert(key).inserted {
                table.report("key", "two requests of the source have the key '\(key)'")
            }
            return request
        }
        if requests.count == declarations.count {
            ReferenceCheck(problems: problems).check(declarations, requests)
            RetentionCheck(problems: problems).check(declarations, requests)
        }
        let (cache, schedule) = times(table)
        return SourceDeclaration(
            name: name, cache: cache ?? Self.defaultCache, hasOwnCache: cache != nil, schedule: schedule,
            honorsMaxAge: table.value(of: keys.honorMaxAge), freshWithin: table[keys.freshWithin],
            keepsHistory: history.isKept, historyKept: history.time, isEnabled: isEnabled, requests: declarations)
    }

    private func request(_ index: Int, _ table: DeclarationReader) -> RequestDeclaration? {
        let keys = RequestKeys.all
        let key = table[keys.key] ?? String(index + 1)
        let url = table[keys.url]
        let hasTables = table.has(RequestKeys.all.tables)
        let scope = table[keys.scope] ?? [:]
        let scopeColumns = Set((scope.keys + table.keys(of: "scope")).map { $0.lowercased() })
        let mapping = MappingReader(table, scope: scopeColumns, parsers: parsers).read()
        let captures = table[keys.capture] ?? []
        let until = table[keys.until]
        var forEach =
            table[keys.forEach]
            ?? table[keys.slices].map { ForEachDeclaration(rows: .slices($0), maxRequests: SliceDeclaration.most) }
        if forEach?.query != nil {
            forEach?.concurrency = table.value(of: keys.concurrency)
            forEach?.maxRequests = table.value(of: keys.maxRequests)
        }
        let dialect = dialect(table)
        let documents = DocumentsReader(table: table).documents(at: url, of: forEach)
        finish(table)
        if let url, !url.isReference {
            _ = table.address(url, keys.url.entry.name) { _ in try RequestAddress(url.probe) }
        }
        let hasParser = table.nearest(with: keys.parser) != nil
        let hasCaptures = table.has(keys.capture) || table.has(keys.until)
        if mapping == nil, !hasParser, !hasTables, !hasCaptures {
            problems.reportLacking(
                ["tables", "parser", "capture"], at: table.path,
                "the request has no parser",
                help: "declare 'tables', name a registered 'parser', or 'capture' values for later requests"
            )
        }
        let content: BodyContent
        if let mapping {
            content = .mapping(mapping)
        } else if !hasTables, let parser = table[keys.parser] {
            content = parser == BodyContent.mirroredName ? .mirrored : .parser(parser)
        } else if !hasTables, !hasParser, !captures.isEmpty || until != nil {
            content = .captures
        } else {
            return nil
        }
        guard let url else { return nil }
        if content == .captures {
            for key in table.present(RequestKeys.all.minRows, RequestKeys.all.expect) {
                table.report(key, "has no effect on a request that stages no rows")
            }
        }
        // A body replaces an inherited call of SOAP, and a call an inherited body.
        let caller = table.nearest(with: keys.body, keys.soap)
        let body = caller?.own(keys.body)
        let method = table[keys.method]
        var request = RequestDeclaration(
            key: key, url: url, timeout: table.value(of: keys.timeout),
            transport: Transport(connectTimeout: table.value(of: keys.connectTimeout)),
            maxBody: table.value(of: keys.maxBody), content: content)
        request.method = method ?? (body == nil ? "GET" : "POST")
        request.headers = RequestDeclaration.defaultHeaders.replacingHeaders(with: table[keys.headers] ?? [:])
        request.parameters = table[keys.parameters] ?? [:]
        request.body = body
        request.transport.tls = table[keys.tls]
        request.transport.proxy = table[keys.proxy]
        request.transport.knownHosts = table[keys.knownHosts]
        request.authentication = table[keys.auth]
        request.contentDigest =
            table.fingerprint(of: content.declaringKeys) + content.name + (dialect.protobuf?.fingerprint ?? "")
        request.sync = table.value(of: keys.sync)
        request.scope = scope.mapValues(\.value)
        request.allowsEmpty = table.value(of: keys.allowEmpty)
        request.acceptStatus = Set(table.value(of: keys.acceptStatus))
        request.retries = table.value(of: keys.retries)
        request.retriesUnsafe = table.value(of: keys.retryUnsafe)
        request.place = table.place
        request.resumes = table.value(of: keys.resume)
        if table.own(keys.resume) == true, request.safeRetries == 0 {
            table.report(
                "resume", "requires 'retries', the number of times that a transfer may continue")
        }
        request.captures = captures
        request.window = table[keys.window]
        request.deleted = table[keys.deleted]
        request.expiry = table[keys.expire]
        request.limits = ChangeLimits(
            deleted: table[keys.maxDeleted] ?? .half, changed: table[keys.maxChanged],
            allowsEmpty: request.allowsEmpty)
        request.keepBodies = table.value(of: keys.keepBodies)
        request.paging = table[keys.page]
        request.until = until
        request.documents = documents
        request.newerThan = table[keys.newerThan]
        request.minRows = table.value(of: keys.minRows)
        request.maxSkipped = table[keys.maxSkipped]
        request.drift = table.value(of: keys.drift)
        request.expectations = table[keys.expect] ?? []
        request.dialect = dialect
        if let format = dialect.format,
            request.headers["Accept"] == RequestDeclaration.defaultHeaders["Accept"]
        {
            request.headers["Accept"] = InterpolatedText(format.accept)
        }
        request.mend(Set(table[keys.repair] ?? []))
        request.forEach = forEach
        if let soap = caller?.own(keys.soap) {
            if let method, method != "POST" {
                table.report(
                    table.has(RequestKeys.all.method) ? "method" : "soap",
                    "a SOAP operation is called by POST, not \(method)")
            }
            request.call(soap)
        } else if let type = request.body?.contentType, !request.hasHeader("Content-Type") {
            request.headers["Content-Type"] = InterpolatedText(type)
        }
        ReferenceCheck(problems: problems).checkContinuation(of: request, table)
        if request.authentication != nil, request.hasHeader("Authorization") {
            problems.report(table.path, "the request has 'auth' and a header 'Authorization'", help: "give one of them")
        }
        RetentionCheck(problems: problems).check(request, table)
        SchemeReader(table: table).read(&request)
        AfterCommitReader(table: table).read(&request)
        return request
    }

    /// Reads `format`, `csv`, `xlsx` and `protobuf`.
    private func dialect(_ table: DeclarationReader) -> BodyDialect {
        let keys = RequestKeys.all
        let format: BodyFormat? = table.has(keys.csv) ? .csv : table.has(keys.protobuf) ? .protobuf : table[keys.format]
        var dialect = BodyDialect(format: format)
        dialect.csv = table[keys.csv] ?? CSVDialect()
        dialect.xlsx = table[keys.xlsx] ?? WorkbookDialect()
        dialect.protobuf = table[keys.protobuf]
        if dialect.csv.skipsMalformed, !table.has(keys.tables) {
            problems.report(
                table.path.appending("csv", "on_error"),
                "\"skip\" requires a mapping (tables), whose tables the lines are for")
        }
        return dialect
    }

    /// Reports two sources that mirror the same rows: each would delete the other's. The way in which a table compares
    /// values is not known here, so `check` and each commit check again.
    private func checkMirrors(_ configuration: TributaryConfiguration) {
        let conflicts = MirrorConflict.all(in: configuration, parsers: parsers) { _, _ in TableComparison() }
        for conflict in conflicts {
            problems.report(conflict.place.keyPath, conflict.finding)
        }
    }

    /// Reports declared tables that have the names of views of versions.
    private func checkVersions(_ configuration: TributaryConfiguration) {
        let shown = configuration.sources.filter { $0.historyKept != nil }
        guard !shown.isEmpty else { return }
        let declared = Set(
            configuration.sources.flatMap(\.requests).flatMap { parsers.tables(of: $0.content) }.map { $0.lowercased() }
        )
        for source in shown {
            let tables = Set(source.requests.flatMap { parsers.tables(of: $0.content) })
            for table in tables.sorted() where declared.contains(VersionsView.name(of: table).lowercased()) {
                let place = TOMLKeyPath().appending("sources", source.name, "keep_history")
                problems.report(place, VersionsView.isTaken(of: table))
            }
        }
    }
}
