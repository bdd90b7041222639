import FeedDeclarations
import TOML

/// Collects mistakes while a configuration is read. Each gets its line at the end.
final class ProblemCollector {
    private let document: TOMLTable
    private(set) var found: [(path: TOMLKeyPath, message: String)] = []
    /// The positions in `found` of messages that may still show secrets.
    private var unredacted: [Int] = []
    /// The number of mistakes beyond the limit, which are counted and not shown.
    private var suppressed = 0
    /// Returns the secrets that messages must not show: any wrong key may have a secret as its value.
    private let secrets: () -> Set<String>

    init(_ document: TOMLTable, secrets: @escaping () -> Set<String>) {
        self.document = document
        self.secrets = secrets
    }

    func report(_ path: @autoclosure () -> TOMLKeyPath, _ message: @autoclosure () -> String) {
        guard found.count < ConfigurationLimits.problems else {
            suppressed += 1
            return
        }
        var message = message()
        // A redactor of many secrets takes long to make. One suffices for all messages, except for those that are too
        // long to be kept whole until the end.
        if message.utf8.count <= Self.longestKept {
            unredacted.append(found.count)
        } else {
            message = Redactor(secrets: secrets()).redact(message).shortened(to: ConfigurationLimits.message)
        }
        found.append((path(), message))
    }

    private static let longestKept = 16 << 10

    /// - Throws: ``ConfigurationError`` with the mistakes in the order of the file, if there are any.
    func check(file: String) throws {
        guard !found.isEmpty else { return }
        let redactor = Redactor(secrets: secrets())
        for index in unredacted {
            found[index].message = redactor.redact(found[index].message).shortened(to: ConfigurationLimits.message)
        }
        unredacted = []
        var problems = found.map { problem in
            ConfigurationError.Problem(
                file: file, line: document.line(of: problem.path) ?? 1, keyPath: problem.path.description,
                message: problem.message)
        }
        problems.sort { ($0.line ?? 0, $0.keyPath) < ($1.line ?? 0, $1.keyPath) }
        if suppressed > 0 {
            problems.append(.init(file: file, message: "and \(suppressed) more mistake\(suppressed == 1 ? "" : "s")"))
        }
        throw ConfigurationError(problems: problems)
    }
}
