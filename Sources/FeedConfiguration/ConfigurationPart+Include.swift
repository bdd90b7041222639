import FeedModel

/// `include`: the sources and hooks of further files.
extension ConfigurationPart {
    /// What an included file may declare.
    private static let tables = [FileKeys.all.sources.entry.name, FileKeys.all.hooks.entry.name]

    /// Returns the document with the sources and hooks of the files that it includes. They are read as if they were in it:
    /// `[defaults]` applies to them, and their paths are relative to the folder of this file.
    ///
    /// - Parameter root: the reader of this file.
    /// - Throws: ``ConfigurationError`` for files that cannot be read: what others seem to lack may be in them.
    func including(_ root: DeclarationReader) throws -> TOMLTable {
        let (key, problems) = (FileKeys.all.include, root.problems)
        guard root.has(key) else { return document }
        var unread: [ConfigurationError.Problem] = []
        let parts = parts(named: root[key] ?? []) { index, error in
            if let error = error as? ConfigurationError {
                unread += error.problems
            } else {
                let place = root.path.appending(key.entry.name).appending(index)
                problems.report(place, error as? Finding ?? Finding("\(error)"))
            }
        }
        try problems.check(adding: unread)
        for part in parts {
            problems.add(part)
            part.forEachNUL { problems.report($0, in: part, Finding(Self.nul)) }
            part.reportOtherKeys(to: problems, includedBy: file)
        }
        let declarations = Self.tables.compactMap { name in
            merged(name, parts, problems).map { TOMLTable.Entry(key: name, node: $0) }
        }
        return TOMLTable(document.entries.filter { !Self.tables.contains($0.key) } + declarations)
    }

    /// Returns the files that some patterns name.
    ///
    /// - Parameter report: receives why a pattern or a file cannot be read, with the pattern's position.
    fileprivate func parts(named patterns: [String], report: (Int, any Error) -> Void) -> [ConfigurationPart] {
        var files = IncludedFiles(of: self)
        var parts: [ConfigurationPart] = []
        var namesNone = true
        for (index, pattern) in patterns.enumerated() {
            do {
                for file in try files.named(by: pattern) {
                    namesNone = false
                    do { parts.append(try files.part(file)) } catch { report(index, error) }
                }
            } catch {
                namesNone = false
                report(index, error)
            }
        }
        // A folder that was renamed must not remove all sources without a word.
        if namesNone, !patterns.isEmpty, document["sources"] == nil {
            report(0, Finding("names no file, and no source is declared", help: "correct it, or declare a source"))
        }
        return parts
    }

    /// Returns the table of the sources, or of the hooks, of this file and others. One that is declared twice is reported;
    /// the first one counts.
    private func merged(_ name: String, _ parts: [ConfigurationPart], _ problems: ProblemCollector) -> TOMLNode? {
        let own = document.node(name)
        // That it is no table is reported where it is read.
        if let own, own.value.table == nil { return own }
        var entries = own?.value.table?.entries ?? []
        var places = Dictionary(uniqueKeysWithValues: entries.map { ($0.key, "\(file):\($0.node.line)") })
        for part in parts {
            for entry in part.document[name]?.table?.entries ?? [] {
                if let place = places[entry.key] {
                    let finding = Finding("is declared twice; \(place) declares it first", help: "rename one of them")
                    problems.report(TOMLKeyPath().appending(name, entry.key), in: part, finding)
                } else {
                    places[entry.key] = "\(part.file):\(entry.node.line)"
                    entries.append(entry)
                    problems.add(table: [name, entry.key], of: part)
                }
            }
        }
        guard own != nil || !entries.isEmpty else { return nil }
        return TOMLNode(.table(TOMLTable(entries)), at: own?.place ?? TOMLPlace(line: 1))
    }

    /// Reports what an included file cannot have.
    private func reportOtherKeys(to problems: ProblemCollector, includedBy main: String) {
        for entry in document.entries {
            let path = TOMLKeyPath().appending(entry.key)
            if Self.tables.contains(entry.key) {
                if entry.node.value.table != nil { continue }
                problems.report(path, in: self, Finding("expected a table, found \(entry.node.value.typeName)"))
            } else if entry.key == FileKeys.all.include.entry.name {
                problems.report(
                    path, in: self, Finding("an included file includes no others", help: "name them in \(main)"))
            } else if FileKeys.table.names.contains(entry.key) {
                let finding = Finding("an included file has only sources and hooks", help: "move the table to \(main)")
                problems.report(path, in: self, finding)
            } else {
                problems.report(
                    path, in: self,
                    Finding(
                        "unknown key",
                        help: didYouMean(entry.key, among: Self.tables)
                            ?? "known here: \(Self.tables.joined(separator: ", "))"))
            }
        }
    }
}

extension ConfigurationPart {
    /// Returns a file and those that it includes, as far as they can be read. Mistakes in them are ignored.
    static func readable(from file: String) -> [ConfigurationPart] {
        guard let bytes = try? ConfigurationFile.read(file), let main = try? ConfigurationPart(file: file, bytes: bytes)
        else { return [] }
        let patterns = main.document[FileKeys.all.include.entry.name]?.array?.compactMap(\.value.string) ?? []
        return [main] + main.parts(named: patterns) { _, _ in }
    }
}
