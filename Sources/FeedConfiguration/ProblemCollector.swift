import FeedDeclarations
import TOML

/// Collects mistakes while a configuration is read. Each gets its line at the end.
final class ProblemCollector {
    private let document: TOMLTable
    private(set) var found: [(path: TOMLKeyPath, message: String)] = []
    private var untold = 0
    /// Returns the secrets that messages must not show: any wrong key may have a secret as its value.
    private let secrets: () -> Set<String>

    init(_ document: TOMLTable, secrets: @escaping () -> Set<String>) {
        self.document = document
        self.secrets = secrets
    }

    func report(_ path: @autoclosure () -> TOMLKeyPath, _ message: @autoclosure () -> String) {
        guard found.count < ConfigurationLimits.problems else {
            untold += 1
            return
        }
        let message = Redactor(secrets: secrets()).redact(message())
        found.append((path(), message.shortened(to: ConfigurationLimits.message)))
    }

    /// - Throws: ``ConfigurationError`` with the mistakes in the order of the file, where there are any.
    func check(file: String) throws {
        guard !found.isEmpty else { return }
        var problems = found.map { problem in
            ConfigurationError.Problem(
                file: file, line: document.line(of: problem.path) ?? 1, keyPath: problem.path.description,
                message: problem.message)
        }
        problems.sort { ($0.line ?? 0, $0.keyPath) < ($1.line ?? 0, $1.keyPath) }
        if untold > 0 { problems.append(.init(file: file, message: "and \(untold) mistakes more")) }
        throw ConfigurationError(problems: problems)
    }
}
