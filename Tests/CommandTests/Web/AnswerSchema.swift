import Foundation

/// The schemas of an OpenAPI document, and what an answer has that they do not allow (JSON Schema, draft 2020-12, as far as
/// the document uses it).
struct AnswerSchema {
    private let components: [String: Any]

    init(_ document: String) throws {
        let object = try JSONSerialization.jsonObject(with: Data(document.utf8)) as? [String: Any]
        components = (object?["components"] as? [String: Any])?["schemas"] as? [String: Any] ?? [:]
        self.document = object ?? [:]
    }

    private let document: [String: Any]

    /// Returns the faults of a line or an object that a request has answered.
    ///
    /// - Parameters:
    ///   - path: with the names of its parameters in braces.
    ///   - status: `200`, or `default`.
    func faults(_ text: String, of method: String, _ path: String, _ status: String = "200") throws -> [String] {
        let operation = ((document["paths"] as? [String: Any])?[path] as? [String: Any])?[method] as? [String: Any]
        let answer = (operation?["responses"] as? [String: Any])?[status] as? [String: Any]
        let media = (answer?["content"] as? [String: Any])?.values.first as? [String: Any]
        guard let schema = media?["schema"] as? [String: Any], !schema.isEmpty else { return ["no schema"] }
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
        return faults(value, schema, "")
    }

    private func faults(_ value: Any, _ schema: [String: Any], _ place: String) -> [String] {
        if let reference = schema["$ref"] as? String {
            let name = String(reference.split(separator: "/").last ?? "")
            guard let named = components[name] as? [String: Any] else { return ["\(place): no schema \(reference)"] }
            return faults(value, named, place)
        }
        if let choices = schema["anyOf"] as? [[String: Any]] {
            let found = choices.map { faults(value, $0, place) }
            return found.contains([]) ? [] : found.first ?? []
        }
        var problems: [String] = []
        if let type = schema["type"] as? String, !isOf(type, value) {
            problems.append("\(place): no \(type): \(value)")
        }
        if let known = schema["enum"] as? [String], !known.contains(value as? String ?? "") {
            problems.append("\(place): none of \(known): \(value)")
        }
        if schema["format"] as? String == "date-time", (try? Date(value as? String ?? "", strategy: .iso8601)) == nil {
            problems.append("\(place): no time: \(value)")
        }
        if let items = schema["items"] as? [String: Any], let values = value as? [Any] {
            problems += values.enumerated().flatMap { faults($1, items, "\(place)[\($0)]") }
        }
        guard let object = value as? [String: Any] else { return problems }
        for name in schema["required"] as? [String] ?? [] where object[name] == nil {
            problems.append("\(place).\(name) is missing")
        }
        let properties = schema["properties"] as? [String: [String: Any]] ?? [:]
        for (name, member) in object {
            if let own = properties[name] {
                problems += faults(member, own, "\(place).\(name)")
            } else if let others = schema["additionalProperties"] as? [String: Any] {
                problems += faults(member, others, "\(place).\(name)")
            } else if !properties.isEmpty {
                problems.append("\(place).\(name) is not described")
            }
        }
        return problems
    }

    private func isOf(_ type: String, _ value: Any) -> Bool {
        switch type {
        case "null": return value is NSNull
        case "string": return value is String
        case "array": return value is [Any]
        case "object": return value is [String: Any]
        default:
            guard let number = value as? NSNumber else { return false }
            let isBoolean = CFBooleanNumber.isBoolean(number)
            return switch type {
            case "boolean": isBoolean
            case "integer": !isBoolean && number.doubleValue == number.doubleValue.rounded()
            default: !isBoolean
            }
        }
    }
}

private enum CFBooleanNumber {
    /// True for a number that JSON wrote as `true` or `false`.
    static func isBoolean(_ number: NSNumber) -> Bool { String(cString: number.objCType) == "c" }
}
