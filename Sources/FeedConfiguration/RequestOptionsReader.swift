import FeedModel
import XMLStream

/// Reads the keys by which a request depends on others of its stack, or is repeated: `capture`, `page`, `until` and `for_each`;
/// what its rows are expected to be; and its format.
struct RequestOptionsReader {
    let table: DeclarationReader
    private let keys = RequestKeys.all

    func captures() -> [CaptureDeclaration] {
        (table[keys.capture] ?? [:]).sorted { $0.key < $1.key }.compactMap { name, path in
            self.path(path.value, "capture").map { CaptureDeclaration(name: name, path: $0, written: path.value) }
        }
    }

    func paging() -> PagingDeclaration? {
        guard let page = table.table(keys.page) else { return nil }
        let keys = PageKeys.all
        let next = page[keys.next]
        let link = page.value(of: keys.link)
        let token = page[keys.token]
        let parameter = page[keys.parameter]
        let kept = page[keys.keep]
        let counter = page[keys.counter]
        let start = page.value(of: keys.start)
        let step = page.value(of: keys.step)
        let most = page.value(of: keys.maxPages)
        page.finish()
        guard [next != nil, link, token != nil, counter != nil].count(where: \.self) == 1 else { return nil }
        if let next {
            return path(next, "page", example: "/json/next").map {
                PagingDeclaration(next: .path($0, written: next), maxPages: most)
            }
        }
        if let counter {
            return PagingDeclaration(next: .counter(parameter: counter, start: start, step: step), maxPages: most)
        }
        guard let token else { return PagingDeclaration(next: .link, maxPages: most) }
        guard let parameter else { return nil }
        let continuation = ContinuationParameter(name: parameter, kept: kept.map { Set($0) })
        return path(token, "page", example: "/json/next").map {
            PagingDeclaration(next: .token($0, written: token, continuation), maxPages: most)
        }
    }

    func until() -> UntilDeclaration? {
        guard let until = table.table(keys.until) else { return nil }
        let keys = UntilKeys.all
        let written = until[keys.path]
        let path = written.flatMap { Self(table: until).path($0, keys.path.entry.name, example: "/json/state") }
        let values = until[keys.values]
        let failures = until[keys.failures] ?? []
        let (every, within) = (until[keys.every], until[keys.within])
        if values?.isEmpty == true { until.report(keys.values, "names no value") }
        if values?.contains("") == true { until.report(keys.values, "a value must not be empty") }
        for value in failures where values?.contains(value) == true {
            until.report(keys.failures, "'\(value)' is also a value of 'is'")
        }
        let isRead = (every != nil) == until.has(keys.every) && (within != nil) == until.has(keys.within)
        let (pause, limit) = (every ?? keys.every.standard, within ?? keys.within.standard)
        if isRead, pause > limit {
            if within == nil {
                until.report(keys.every, "is longer than 'within', \(limit.configured)")
            } else {
                until.report(keys.within, "is shorter than 'every', \(pause.configured)")
            }
        }
        until.finish()
        guard let path, let written, let values else { return nil }
        return UntilDeclaration(
            path: path, written: written, values: values, failures: failures, pause: pause, limit: limit)
    }

    func forEach() -> ForEachDeclaration? {
        let rows = table.table(keys.forEach)
        let concurrency = table.value(of: keys.concurrency)
        let most = table.value(of: keys.maxRequests)
        let slices = slices()
        guard let rows else {
            return slices.map {
                ForEachDeclaration(
                    rows: .slices($0), concurrency: ForEachDeclaration.defaultConcurrency,
                    maxRequests: SliceDeclaration.most)
            }
        }
        let own = ForEachKeys.all
        let query = rows[own.rows]
        let skips = rows[own.onError] == .skip
        let mostSkipped = rows.value(of: own.maxSkipped)
        rows.finish()
        return query.map {
            ForEachDeclaration(
                rows: .query($0), concurrency: concurrency, maxRequests: most, maxSkipped: skips ? mostSkipped : nil)
        }
    }

    private func slices() -> SliceDeclaration? {
        guard let table = table.table(keys.slices) else { return nil }
        let keys = SliceKeys.all
        let (from, to) = (table[keys.from], table[keys.to])
        let (step, overlap) = (table.value(of: keys.step), table[keys.overlap] ?? .zero)
        table.finish()
        guard let from else { return nil }
        let slices = SliceDeclaration(
            from: from, to: to?.value == "now" ? nil : to, step: step, overlap: overlap)
        var days: [String] = []
        var times: [String] = []
        for (key, text) in [(keys.from, from), (keys.to, slices.to)] {
            guard let text else { continue }
            if text.references.contains(where: { $0.bound != nil || $0.column != nil }) {
                table.report(key, "takes no ${slice:…} and no ${row:…}, which have values only for a single span")
            }
            guard !text.isDynamic else { continue }
            let bound = table.reporting(key) {
                try SliceDeclaration.bound(text.value, key.entry.name)
            }
            if let bound {
                if bound.isDay { days.append(text.value) } else { times.append(text.value) }
            }
        }
        if !days.isEmpty, !times.isEmpty {
            table.report(keys.to, "must be a day if 'from' is one, and otherwise a time")
        } else if let day = days.first {
            table.reporting(keys.from) { try slices.checkDays(day) }
        }
        return slices
    }

    func expectations() -> [Expectation] {
        let keys = ExpectationKeys.all
        return (table.tables(RequestKeys.all.expect) ?? []).compactMap { reader in
            let sql = reader[keys.sql]
            let message = reader[keys.message]
            let failure = reader.value(of: keys.onFailure)
            for (key, text) in [("sql", sql), ("message", message)] where text?.allSatisfy(\.isWhitespace) == true {
                reader.report(key, "is empty")
            }
            reader.finish()
            return sql.map { Expectation(sql: $0, message: message, onFailure: failure) }
        }
    }

    /// Reads `format`, `csv`, `xlsx` and `protobuf`.
    func dialect() -> BodyDialect {
        var dialect = BodyDialect(format: table[keys.format])
        if let reader = table.table(keys.csv) {
            dialect.format = .csv
            dialect.csv = csv(reader)
        }
        if let reader = table.table(keys.xlsx) { dialect.xlsx = workbook(reader) }
        if let reader = table.table(keys.protobuf) {
            dialect.format = .protobuf
            dialect.protobuf = protobuf(reader)
        } else if dialect.format == .protobuf {
            table.report(
                "format", "requires 'protobuf', the schema of the body",
                help: "for GTFS Realtime, write format = \"gtfs-realtime\"")
        }
        return dialect
    }

    /// Reads `repair`.
    ///
    /// - Parameter format: the format that is declared.
    func repair(of format: BodyFormat?) -> Set<XMLRepair.Fault> {
        guard let names = table[keys.repair] else { return [] }
        if let format, format != .xml {
            table.report("repair", "only XML can be repaired, and the format is \(format.rawValue)")
        }
        let known = XMLRepair.Fault.allCases.map(\.rawValue)
        return names.reduce(into: []) { faults, name in
            if let fault = XMLRepair.Fault(rawValue: name) {
                faults.insert(fault)
            } else {
                table.report(
                    "repair", "expected one of \(known.joined(separator: ", ")), found '\(name)'",
                    help: didYouMean(name, among: known))
            }
        }
    }

    /// Reads `documents`. The files that an address with `*` names are documents, too.
    ///
    /// - Parameters:
    ///   - url: the request's address.
    ///   - forEach: the rows for which the request is sent.
    func documents(at url: InterpolatedText?, of forEach: ForEachDeclaration?) -> MemberPattern? {
        let target = url.flatMap { $0.isReference ? nil : try? RequestAddress($0.probe) }
        let isPattern = target?.pattern != nil
        let text = table[keys.documents]
        guard let text = text ?? (isPattern ? "**" : nil) else {
            if target?.isFolder == true {
                let below = target?.listsSubfolders == true ? ", or \"**/*.xml\" for all below it" : ""
                table.report("url", "names a folder", help: "add documents = \"*.xml\" for the files in it" + below)
            }
            return nil
        }
        let place = table.has(keys.documents) ? "documents" : "url"
        if isPattern, table.has(keys.documents) {
            table.report(
                "documents", "'url' already has a pattern", help: "give one here or in 'url'")
        }
        if text.isEmpty || text.hasPrefix("/") {
            table.report(
                "documents",
                "\(text.isEmpty ? "is empty" : "'\(text.shortened(to: 100))' begins with '/'; names in an archive do not")",
                help: "write \"*.xml\", or \"**/*.xml\" for files in any folder")
        } else if let target, target.isFolder, !target.listsSubfolders, text.contains("/") {
            table.report(
                "documents",
                "'\(text.shortened(to: 100))' has a '/', but a server's listing is of one folder",
                help: "write \"*.xml\"")
        } else if text.utf8.count > MemberPattern.lengthLimit {
            table.report("documents", "has more than \(MemberPattern.lengthLimit) bytes")
        }
        for key in table.present(keys.capture, keys.page, keys.until, keys.soap) {
            table.report(place, "a request of several documents cannot have '\(key.entry.name)'")
        }
        if forEach?.maxSkipped != nil {
            table.report(place, "an archive cannot be skipped", help: "remove on_error = \"skip\" from for_each")
        }
        return MemberPattern(text)
    }

    private func workbook(_ reader: DeclarationReader) -> WorkbookDialect {
        let keys = WorkbookKeys.all
        var dialect = WorkbookDialect()
        dialect.sheet = reader[keys.sheet]
        dialect.header = header(reader[keys.header], reader)
        dialect.skip = reader.value(of: keys.skip)
        reader.finish()
        return dialect
    }

    private func protobuf(_ reader: DeclarationReader) -> ProtobufSchema? {
        let keys = ProtobufKeys.all
        let message = reader[keys.message]
        let path = reader[keys.descriptor]
        reader.finish()
        guard let message, let path else { return nil }
        let bytes = reader.reporting(keys.descriptor) { try ConfigurationFile.read(named: path) }
        let read = bytes.flatMap { bytes in
            reader.reporting(keys.descriptor, "the file \(path) ") { try ProtobufSchema(descriptorSet: bytes) }
        }
        guard var schema = read else { return nil }
        schema.message = message
        if schema.messages[message] != nil { return schema }
        reader.report(
            keys.message, "the descriptor set has no message '\(message)'",
            help: didYouMean(message, among: schema.messages.keys))
        return nil
    }

    private func header(_ option: HeaderOption?, _ reader: DeclarationReader) -> CSVDialect.Header {
        switch option {
        case .line(let isThere)?: return isThere ? .line : .none
        case .names(let names)?:
            if names.isEmpty { reader.report("header", "names no column") }
            return .names(names)
        case nil: return .line
        }
    }

    private func csv(_ reader: DeclarationReader) -> CSVDialect {
        let keys = CSVKeys.all
        var dialect = CSVDialect()
        if let text = reader[keys.delimiter] {
            dialect.delimiter = Self.character(text)
            if dialect.delimiter == nil {
                reader.report(
                    "delimiter", "'\(text)' is not one ASCII character", help: "write \";\", \"\\t\" or \"|\"")
            }
        }
        if let text = reader[keys.quote] {
            dialect.quote = Self.character(text)
            if dialect.quote == nil, !text.isEmpty {
                reader.report("quote", "'\(text)' is neither one ASCII character nor empty (no quotes)")
            } else if dialect.quote == dialect.delimiter ?? UInt8(ascii: ",") {
                reader.report("quote", "the quote is also the delimiter")
            }
        }
        dialect.header = header(reader[keys.header], reader)
        dialect.skip = reader.value(of: keys.skip)
        if let encoding = reader[keys.encoding] {
            dialect.encoding = encoding
            if !TextDecoder.knows(encoding) {
                reader.report(
                    "encoding", "the encoding '\(encoding)' is unknown", help: "'iconv -l' lists the known ones")
            }
        }
        dialect.skipsMalformed = reader[keys.onError] == .skip
        if dialect.skipsMalformed, !table.has(self.keys.tables) {
            reader.report(keys.onError, "\"skip\" requires a mapping (tables), whose tables the lines are for")
        }
        reader.finish()
        return dialect
    }

    /// Returns the only character of a text; nil if it is not ASCII, or ends a line.
    private static func character(_ text: String) -> UInt8? {
        guard text.utf8.count == 1, let byte = text.utf8.first, byte != 0, byte != 0x0A, byte != 0x0D else {
            return nil
        }
        return byte
    }

    private func path(_ written: String, _ key: String, example: String = "/login/token") -> XMLPath? {
        guard let path = table.path(written, key) else { return nil }
        guard path.isAbsolute, !path.steps.isEmpty else {
            table.report(key, "'\(written)' must begin at the root, as in \"\(example)\"")
            return nil
        }
        guard path.steps.allSatisfy({ $0.position == nil }) else {
            table.report(
                key, "'\(written)' asks for a position, which only a mapping's paths may; ask for an attribute")
            return nil
        }
        return path
    }
}
