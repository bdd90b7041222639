import FeedModel
import Foundation

/// Reads `[hooks.NAME]`.
struct HookReader {
    let name: String
    let table: DeclarationReader
    let folder: String
    /// The names of the declared sources.
    let sources: [String]
    let parsers: any BodyParsing
    private let keys = HookKeys.all

    func read() -> HookDeclaration? {
        table.finish()
        let (patterns, format, condition, receiver) = (patterns(), format(), condition(), receiver())
        guard let receiver, let events = table[keys.on] else { return nil }
        return HookDeclaration(
            name: name, events: Set(events), sources: patterns, after: table.value(of: keys.after),
            rows: table.value(of: keys.rows), timeout: table.value(of: keys.timeout), format: format,
            condition: condition, receiver: receiver
        )
    }

    private func format() -> ChangeFormat {
        let values = table[keys.values] ?? false
        switch table[keys.format] ?? .plain {
        case .plain: return values ? .values : .key
        case .debezium:
            if table.has(keys.values), !values {
                table.report(keys.format, "\"debezium\" has the rows' values", help: "leave out 'values'")
            }
            return .debezium
        }
    }

    private func condition() -> HookCondition? {
        let place = table.path.appending("where")
        guard let condition = table[keys.condition] else { return nil }
        func check(_ sql: String, at place: TOMLKeyPath) {
            if let problem = parsers.conditionProblem(of: sql) { table.problems.report(place, problem) }
        }
        switch condition {
        case .everyTable(let sql): check(sql, at: place)
        case .tables(let conditions):
            if conditions.isEmpty {
                table.problems.report(place, "names no table; the hook would never hear of a change")
            }
            for (name, sql) in conditions { check(sql, at: place.appending(name)) }
        }
        return condition
    }

    private func patterns() -> [String] {
        let patterns = table[keys.sources] ?? []
        for (index, pattern) in patterns.enumerated()
        where !sources.contains(where: { HookDeclaration.matches($0, pattern) }) {
            table.problems.report(
                table.path.appending("sources").appending(index), "no source is called '\(pattern)'",
                help: didYouMean(pattern, among: sources))
        }
        return patterns
    }

    private func receiver() -> HookDeclaration.Receiver? {
        if table.has(keys.run) {
            let command = command()
            return table.has(keys.post) ? nil : command.map { .program($0) }
        }
        return table[keys.post].map { .address($0, secret: table[keys.secret]) }
    }

    private func command() -> [InterpolatedText]? {
        guard let words = table[keys.run] else { return nil }
        guard words.first?.isEmpty == false else {
            table.report("run", "the program is missing", help: "write [\"/usr/bin/program\", \"argument\"]")
            return nil
        }
        var command: [InterpolatedText] = []
        for (index, word) in words.enumerated() {
            let place = table.path.appending("run").appending(index)
            guard let text = table.interpolate(word, at: place) else { return nil }
            command.append(text)
        }
        // A name with a folder is relative to the file that declares it; one without is looked for in PATH.
        if command[0].value.contains("/") {
            let base = URL(fileURLWithPath: folder, isDirectory: true)
            command[0].value = URL(fileURLWithPath: command[0].value, relativeTo: base).standardizedFileURL.path
        }
        return command
    }
}
