import FeedModel

/// Collects mistakes while a configuration is read. Each gets its line at the end.
final class ProblemCollector {
    /// A mistake.
    struct Found {
        var path: TOMLKeyPath
        var finding: Finding
        /// True where the key is wrong, and not its value.
        var isKey = false
        /// The keys of which the table lacks one; empty for another mistake.
        var lacking: [String] = []
        /// The key that an unknown one was meant to be.
        var meant: String?
    }

    let file: String
    private let document: TOMLTable
    private let bytes: [UInt8]
    private(set) var found: [Found] = []
    /// The positions in `found` of findings that may still show secrets.
    private var unredacted: [Int] = []
    /// The number of mistakes beyond the limit, which are counted and not shown.
    private var suppressed = 0
    /// Returns the secrets that messages must not show: any wrong key may have a secret as its value.
    private let secrets: () -> Set<String>

    /// - Parameter bytes: those of the document.
    init(_ document: TOMLTable, bytes: [UInt8], file: String = "", secrets: @escaping () -> Set<String>) {
        self.file = file
        self.document = document
        self.bytes = bytes
        self.secrets = secrets
    }

    /// The secrets that are written in the document.
    private lazy var literals = LiteralSecrets.all(in: document)

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

    /// Reports a key that its table cannot have.
    ///
    /// - Parameter meant: the key that was probably meant.
    func reportUnknown(_ path: TOMLKeyPath, meant: String?, help: String) {
        add(Found(path: path, finding: Finding("unknown key", help: help), isKey: true, meant: meant))
    }

    /// Reports a table that lacks each of some keys. Where one of them is misspelt, that is the only mistake.
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

    /// - Throws: ``ConfigurationError`` with the mistakes in the order of the file, if there are any.
    func check() throws {
        guard !found.isEmpty else { return }
        let redactor = Redactor(secrets: secrets().union(literals))
        let (lines, shownSecrets) = (SourceLines(bytes), TextSearch(literals))
        for index in unredacted { found[index].finding = redact(found[index].finding, redactor) }
        unredacted = []
        var problems = causes.map { problem in
            var shown = ConfigurationError.Problem(
                file: file, path: problem.path, problem.finding, isKey: problem.isKey, in: document, lines)
            shown.excerpt?.hide(shownSecrets)
            return shown
        }
        problems.sort { left, right in
            (left.line ?? 0, left.excerpt?.columns.lowerBound ?? 0, left.keyPath)
                < (right.line ?? 0, right.excerpt?.columns.lowerBound ?? 0, right.keyPath)
        }
        if suppressed > 0 {
            problems.append(.init(file: file, finding: "and \(suppressed) more mistake\(suppressed == 1 ? "" : "s")"))
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
        return found.filter { meant[$0.path]?.isDisjoint(with: $0.lacking) ?? true }
    }
}

extension ConfigurationError.Problem {
    /// Creates the problem of a key of a document.
    ///
    /// - Parameters:
    ///   - isKey: true where the key is wrong, and not its value.
    ///   - lines: those of the document.
    init(
        file: String, path: TOMLKeyPath, _ found: Finding, isKey: Bool = false, in document: TOMLTable,
        _ lines: SourceLines
    ) {
        let known = document.place(of: path)
        self.init(
            file: file, line: known?.place.line ?? 1, keyPath: path.description, finding: found.text, help: found.help)
        guard let (place, isOwn) = known else { return }
        let isValue = !isKey && isOwn && !place.value.isEmpty
        let range = isValue || place.key.isEmpty ? place.value : place.key
        guard !range.isEmpty, range.upperBound <= lines.bytes.count else { return }
        excerpt = SourceExcerpt(lines, range, isSecret: isValue && LiteralSecrets.isSecret(path))
    }
}
