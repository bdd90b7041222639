import FeedModel

/// Collects mistakes while a configuration is read. Each gets its line at the end.
final class ProblemCollector {
    /// A mistake.
    struct Found {
        /// The number of the file among the parts; nil for the one that has the key.
        var part: Int?
        var path: TOMLKeyPath
        var finding: Finding
        /// True where the key is wrong, and not its value.
        var isKey = false
        /// The keys of which the table lacks one; empty for another mistake.
        var lacking: [String] = []
        /// The key that an unknown one was meant to be.
        var meant: String?
    }

    /// The main file, and those that it includes.
    private var parts: [ConfigurationPart]
    private(set) var included = IncludedTables()
    /// The numbers of the parts, by their files.
    private var numbers: [String: Int]
    private(set) var found: [Found] = []
    /// The positions in `found` of findings that may still show secrets.
    private var unredacted: [Int] = []
    /// The number of mistakes beyond the limit, which are counted and not shown.
    private var suppressed = 0
    /// Returns the secrets that messages must not show: any wrong key may have a secret as its value.
    private let secrets: () -> Set<String>

    init(_ main: ConfigurationPart, secrets: @escaping () -> Set<String>) {
        parts = [main]
        numbers = [main.file: 0]
        self.secrets = secrets
    }

    /// Adds an included file, before anything is reported of it.
    func add(_ part: ConfigurationPart) {
        numbers[part.file] = parts.count
        parts.append(part)
        knownLiterals = nil
    }

    /// Adds a source or a hook of an included file, before anything is reported of it.
    func add(table names: [String], of part: ConfigurationPart) { included.add(names, in: part.file) }

    /// Returns the file that has a key.
    func file(of path: TOMLKeyPath) -> String { included.file(of: path.names) ?? parts[0].file }

    /// The secrets that are written in the documents.
    private var literals: Set<String> {
        let literals = knownLiterals ?? parts.reduce(into: []) { $0.formUnion(LiteralSecrets.all(in: $1.document)) }
        knownLiterals = literals
        return literals
    }
    private var knownLiterals: Set<String>?

    private func redact(_ finding: Finding, _ redactor: Redactor) -> Finding {
        func shown(_ text: String) -> String {
            LiteralSecrets.redact(redactor.redact(text)).shortened(to: ConfigurationLimits.message)
        }
        return Finding(shown(finding.text), help: finding.help.map(shown))
    }

    func report(
        _ path: @autoclosure () -> TOMLKeyPath, _ finding: @autoclosure () -> String,
        help: @autoclosure () -> String? = nil
    ) {
        add(Found(path: path(), finding: Finding(finding(), help: help())))
    }

    /// Reports a key that one of the files cannot have.
    func report(_ path: TOMLKeyPath, _ finding: Finding) { add(Found(path: path, finding: finding)) }

    func report(_ path: TOMLKeyPath, in part: ConfigurationPart, _ finding: Finding) {
        add(Found(part: numbers[part.file], path: path, finding: finding, isKey: true))
    }

    /// Reports a key that its table cannot have.
    ///
    /// - Parameter meant: the key that was probably meant.
    func reportUnknown(_ path: TOMLKeyPath, meant: String?, help: String) {
        add(Found(path: path, finding: Finding("unknown key", help: help), isKey: true, meant: meant))
    }

    /// Reports a table that lacks each of some keys, or a key of it that requires one of them. Where one of them is misspelt,
    /// that is the only mistake.
    func reportLacking(_ keys: [String], at path: TOMLKeyPath, _ finding: String, help: String? = nil) {
        add(Found(path: path, finding: Finding(finding, help: help), lacking: keys))
    }

    /// True where further mistakes are counted and not shown.
    var isFull: Bool { found.count >= ConfigurationLimits.problems }

    private func add(_ problem: @autoclosure () -> Found) {
        guard !isFull else {
            suppressed += 1
            return
        }
        var problem = problem()
        // A redactor of many secrets takes long to make. One suffices for all findings, except for those that are too
        // long to be kept whole until the end.
        let length = problem.finding.text.utf8.count + (problem.finding.help?.utf8.count ?? 0)
        if length <= Self.longestKept {
            unredacted.append(found.count)
        } else {
            problem.finding = redact(problem.finding, Redactor(secrets: secrets().union(literals)))
        }
        found.append(problem)
    }

    private static let longestKept = 16 << 10

    /// - Parameter unread: the reasons why included files were not read.
    /// - Throws: ``ConfigurationError`` with the mistakes in the order of the files, if there are any.
    func check(adding unread: [ConfigurationError.Problem] = []) throws {
        guard !found.isEmpty || !unread.isEmpty else { return }
        let redactor = Redactor(secrets: secrets().union(literals))
        let shownSecrets = TextSearch(literals)
        var lines: [Int: SourceLines] = [:]
        for index in unredacted { found[index].finding = redact(found[index].finding, redactor) }
        unredacted = []
        var shown = causes.map { problem in
            let part = problem.part ?? included.file(of: problem.path.names).flatMap { numbers[$0] } ?? 0
            let known = lines[part] ?? SourceLines(parts[part].bytes)
            lines[part] = known
            var shown = ConfigurationError.Problem(
                path: problem.path, problem.finding, isKey: problem.isKey, in: parts[part], known)
            shown.excerpt?.hide(shownSecrets)
            return (part: part, problem: shown)
        }
        func place(_ shown: (part: Int, problem: ConfigurationError.Problem)) -> (Int, Int, Int, String) {
            let problem = shown.problem
            return (shown.part, problem.line ?? 0, problem.excerpt?.columns.lowerBound ?? 0, problem.keyPath)
        }
        shown.sort { place($0) < place($1) }
        var problems = shown.map(\.problem) + unread
        if suppressed > 0 {
            problems.append(
                .init(file: parts[0].file, finding: "and \(suppressed) more mistake\(suppressed == 1 ? "" : "s")"))
        }
        throw ConfigurationError(problems: problems)
    }

    /// The mistakes that do not follow from others: of a table with a misspelt key, the real one is not missing.
    private var causes: [Found] {
        var meant: [TOMLKeyPath: Set<String>] = [:]
        for problem in found {
            guard let key = problem.meant else { continue }
            meant[problem.path.parent, default: []].insert(key)
        }
        guard !meant.isEmpty else { return found }
        return found.filter { problem in
            // A key that requires another one stands in the same table.
            [problem.path, problem.path.parent].allSatisfy { meant[$0]?.isDisjoint(with: problem.lacking) ?? true }
        }
    }
}

extension ConfigurationError.Problem {
    /// Creates the problem of a key of a file.
    ///
    /// - Parameters:
    ///   - isKey: true where the key is wrong, and not its value.
    ///   - lines: those of the part.
    init(
        path: TOMLKeyPath, _ found: Finding, isKey: Bool = false, in part: ConfigurationPart, _ lines: SourceLines
    ) {
        let known = part.document.place(of: path)
        self.init(
            file: part.file, line: known?.place.line ?? 1, keyPath: path.description, finding: found.text,
            help: found.help)
        guard let (place, isOwn) = known else { return }
        let isValue = !isKey && isOwn && !place.value.isEmpty
        let range = isValue || place.key.isEmpty ? place.value : place.key
        guard !range.isEmpty, range.upperBound <= lines.bytes.count else { return }
        excerpt = SourceExcerpt(lines, range, isSecret: isValue && LiteralSecrets.isSecret(path))
    }
}
