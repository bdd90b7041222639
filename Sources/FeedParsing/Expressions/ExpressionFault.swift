import FeedConfiguration
import FeedModel
import Foundation

/// The reason why an expression cannot be compiled.
struct ExpressionFault: Error {
    private(set) var message: String
    /// What to do; nil where nothing can be said but what ``unknown`` gives.
    private var help: String?
    /// A name that the expression uses and nothing has, and the names that there are.
    var unknown: (name: String, known: [String])?
    /// What further mistakes are looked for without.
    var culprit: Culprit?

    /// A name that must not be used.
    enum Culprit: Hashable {
        case column(String), function(String)
    }

    init(_ message: String, _ culprit: Culprit? = nil, help: String? = nil) {
        self.message = message
        self.culprit = culprit
        self.help = help
    }

    private init(_ message: String, _ culprit: Culprit, _ name: String, known: [String]) {
        self.init(message, culprit)
        unknown = (name, known)
    }

    /// Creates the fault for what SQLite says of an expression.
    ///
    /// - Parameter functions: returns the names of the functions that there are.
    init(sqlite text: String, _ guardian: ExpressionGuardian, functions: () -> [String]) {
        if let function = guardian.refusedFunction {
            self.init(
                "'\(function)' must not be used in an expression: the same record must always give the same row, and "
                    + "nothing else", .function(function))
        } else if let name = guardian.refusedColumn ?? Self.rest(of: text, after: "no such column: ") {
            self.init("'\(name)' is not a column of the record", .column(name), name, known: guardian.known)
        } else if let name = Self.rest(of: text, after: "no such function: ") {
            self.init("SQLite has no function '\(name)'", .function(name), name, known: functions())
        } else if Self.prohibited.contains(where: text.hasPrefix) {
            self.init(
                "is not an expression over the record's own columns: no subquery, aggregate, window function or parameter "
                    + "is allowed")
        } else {
            self.init("\(Self.syntax): " + text.replacing(" in generated columns", with: ""))
        }
    }

    private static let syntax = "is not an SQL expression"

    /// Returns the finding on an expression. SQLite also names the parenthesis that is added behind it.
    func finding(on expression: String) -> Finding {
        guard message.hasPrefix(Self.syntax) else { return Finding(message, help: help ?? unknownHelp) }
        let endsEarly = message.contains("near \")\": syntax error") && !expression.contains(")")
        return Finding(
            "'\(expression.shortened(to: 100))' " + (endsEarly ? "\(Self.syntax): it ends too early" : message))
    }

    private var unknownHelp: String? {
        guard let (name, known) = unknown else { return nil }
        return didYouMean(name, among: known)
            ?? (known.count > 40 ? nil : "its columns: " + known.joined(separator: ", "))
    }

    private static let prohibited = [
        "subqueries prohibited", "misuse of aggregate", "misuse of window", "parameters prohibited",
    ]

    /// Returns the name at the end of a message, without a table before it and additions of newer versions.
    private static func rest(of text: String, after start: String) -> String? {
        guard text.hasPrefix(start) else { return nil }
        var name = String(text.dropFirst(start.count))
        if let end = name.range(of: " - ") { name = String(name[..<end.lowerBound]) }
        if name.hasPrefix("\""), name.hasSuffix("\""), name.count > 1 { name = String(name.dropFirst().dropLast()) }
        let table = ExpressionDatabase.record + "."
        return name.hasPrefix(table) ? String(name.dropFirst(table.count)) : name
    }
}
