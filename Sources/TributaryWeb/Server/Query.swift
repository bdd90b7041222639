import FeedConfiguration
import Foundation
import HTTPTypes
import Hummingbird

/// The part of an address behind the question mark: names and values, some names perhaps more than once.
struct Query: Sendable {
    /// A mistake of the one who asks.
    struct Problem: Error {
        let message: String
        let status: HTTPResponse.Status

        init(_ message: String, _ status: HTTPResponse.Status = .badRequest) {
            self.message = message
            self.status = status
        }

        static func noSource(_ name: String) -> Problem { Problem("there is no source '\(name)'", .notFound) }
    }

    let items: [(name: String, value: String)]

    init(_ request: Request) { self.init(request.uri.query ?? "") }

    /// Returns the decoded names of an address's path, and its query.
    static func parts(of address: String) -> (names: [String], query: Query) {
        let parts = address.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        return (
            parts[0].split(separator: "/").map { $0.removingPercentEncoding ?? String($0) },
            Query(parts.count > 1 ? String(parts[1]) : "")
        )
    }

    /// - Parameter text: in the form of HTML's forms, application/x-www-form-urlencoded.
    init(_ text: String) {
        items = text.split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (Self.decoded(parts[0]), parts.count > 1 ? Self.decoded(parts[1]) : "")
        }
    }

    /// The first value of a name; nil where it is missing or empty.
    subscript(name: String) -> String? {
        items.first { $0.name == name }.flatMap { $0.value.isEmpty ? nil : $0.value }
    }

    /// Creates a query of those values that are not nil.
    init(_ values: [(name: String, value: String?)]) {
        items = values.compactMap { name, value in value.map { (name, $0) } }
    }

    /// Returns the address that asks for this below a path.
    func address(_ path: String) -> String {
        let texts = items.map { $0.name + "=" + $0.value.percentEncoded }
        return path + (texts.isEmpty ? "" : "?" + texts.joined(separator: "&"))
    }

    func all(_ name: String) -> [String] { items.filter { $0.name == name }.map(\.value) }

    /// - Throws: ``Problem`` where a name is none of these, or has no value: most likely a variable that was not set.
    func check(_ names: [String]) throws {
        for item in items {
            guard names.contains(item.name) else {
                throw Problem("unknown parameter '\(item.name)'; known here: \(names.joined(separator: ", "))")
            }
            guard !item.value.isEmpty else { throw Problem("'\(item.name)' has no value") }
        }
    }

    /// - Throws: ``Problem`` where the value is neither true nor false.
    func flag(_ name: String) throws -> Bool {
        switch self[name] {
        case "true": true
        case "false", nil: false
        default: throw Problem("'\(name)' must be true or false")
        }
    }

    /// - Throws: ``Problem`` where the value is no number from 1, or is given more than once.
    func number(_ name: String, upTo most: Int = .max) throws -> Int? {
        guard all(name).count < 2 else { throw Problem("'\(name)' is given more than once") }
        guard let text = self[name] else { return nil }
        guard let number = Int(text), number > 0, number <= most else {
            throw Problem("'\(name)' must be a number" + (most == .max ? " above 0" : " from 1 to \(most)"))
        }
        return number
    }

    /// Returns one of several known values; nil where the name is missing or empty.
    ///
    /// - Throws: ``Problem`` for any other value.
    func choice<Value: RawRepresentable & CaseIterable>(_ name: String) throws -> Value?
    where Value.RawValue == String {
        try choice(name, among: Value.allCases.map(\.rawValue)).flatMap(Value.init)
    }

    /// - Throws: ``Problem`` for a value that is none of the known ones, or for several values.
    func choice(_ name: String, among known: [String]) throws -> String? {
        guard all(name).count < 2 else { throw Problem("'\(name)' is given more than once") }
        guard let text = self[name] else { return nil }
        guard known.contains(text) else { throw Problem("'\(name)' must be one of \(known.joined(separator: ", "))") }
        return text
    }

    private static func decoded(_ text: Substring) -> String {
        let spaced = text.replacing("+", with: " ")
        return spaced.removingPercentEncoding ?? String(spaced)
    }
}

extension Request {
    /// The decoded names of the path.
    var names: [String] { Query.parts(of: uri.string).names }
}
