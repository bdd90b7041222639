import Foundation

/// What the rules of a merge say that a store holds after documents, in memory and without SQL. Rows are written as a store's canonical
/// rows are: see ``StackSide/canonicalRows()``.
struct ExpectedRows: Sendable, Equatable {
    struct Row: Sendable, Equatable {
        /// As it was written first, in the spelling by which spellings are compared.
        var key: String
        var region: String?
        var name: String?
        var amount: String?
        var seen: Date?
        var maker: String?
        var extra: String?
        var isMarked = false
        /// By number, by code, or as a set.
        var lines: Set<String> = []
    }

    private(set) var rows: [String: Row] = [:]
    private(set) var paths: Set<String> = []
    /// Makers by name, with their city.
    private(set) var makers: [String: String] = [:]

    /// Merges the documents of a stack; nil where the run must be discarded.
    func merging(_ document: RandomDocument, of stack: RandomStack, now: Date) -> ExpectedRows? {
        var result = self
        result.mergeMakers(document, stack)
        // Of several records with one key the last counts.
        var numbers: [String: Int] = [:]
        for (number, item) in document.items.enumerated() { numbers[Self.identity(item, stack)] = number }
        if stack.expires {
            // A record that has expired is not merged, and a row that it stands for goes.
            for (identity, number) in numbers where document.items[number].seen < now - RandomStack.lifetime {
                numbers[identity] = nil
                result.rows[identity] = nil
            }
        }
        let last = numbers.mapValues { document.items[$0] }
        var extras: [String: RandomDocument.Extra] = [:]
        if stack.second == .otherColumns {
            for extra in document.extras { extras[Self.identity(extra.id, extra.part, nil, stack)] = extra }
        }
        for identity in rows.keys where stack.isMirror && last[identity] == nil && extras[identity] == nil {
            if stack.isSoft {
                result.rows[identity]?.isMarked = true
            } else {
                result.rows[identity] = nil
            }
        }
        // A line with a code belongs to the last item that has it.
        var owners: [String: String] = [:]
        for (identity, number) in numbers.sorted(by: { $0.value < $1.value }) where stack.lines == .coded {
            for line in document.items[number].lines { owners[line.code] = identity }
        }
        for (identity, item) in last {
            if let maker = item.maker {
                switch stack.reference {
                case .absent: break
                case .create: if result.makers[maker] == nil { result.makers[maker] = "NULL" }
                case .null: break
                case .discard: if result.makers[maker] == nil { return nil }
                }
            }
            result.merge(item, identity, stack)
        }
        for (identity, extra) in extras {
            var row = result.rows[identity] ?? Row(key: Self.canonicalKey(extra.id, extra.part, stack))
            row.extra = extra.text
            row.isMarked = false
            result.rows[identity] = row
        }
        if stack.isMirror {
            for identity in result.rows.keys where last[identity] == nil && !stack.isSoft {
                result.rows[identity]?.lines = []
            }
        }
        if stack.lines == .coded { result.assign(document, owners, stack, last) }
        if stack.expires {
            let oldest = now - RandomStack.lifetime
            result.rows = result.rows.filter { ($0.value.seen ?? now) >= oldest }
        }
        result.dropReferences(stack)
        let found = Self.paths(document.nodes, "")
        result.paths = stack.isMirror ? found : paths.union(found)
        return result
    }

    private mutating func mergeMakers(_ document: RandomDocument, _ stack: RandomStack) {
        guard stack.reference == .null || stack.reference == .discard else { return }
        if stack.isMirror { makers = [:] }
        for maker in document.makers { makers[maker.name] = maker.city }
    }

    private mutating func merge(_ item: RandomDocument.Item, _ identity: String, _ stack: RandomStack) {
        var row = rows[identity] ?? Row(key: Self.canonicalKey(item.id, item.part, stack))
        row.region = stack.second == .otherScope ? item.region : nil
        row.name = item.name
        row.amount = item.amount.map(Self.canonicalNumber)
        row.seen = item.seen
        row.isMarked = false
        row.maker =
            switch stack.reference {
            case .absent: nil
            case .null: item.maker.flatMap { makers[$0] == nil ? nil : $0 }
            default: item.maker
            }
        let lines =
            switch stack.lines {
            case .absent, .coded: Set<String>()
            case .numbered: Set(item.lines.enumerated().map { "\($0 + 1)|\($1.text ?? "NULL")" })
            case .unkeyed: Set(item.lines.map { $0.text ?? "NULL" })
            }
        if stack.isMirror || stack.lines == .coded {
            row.lines = stack.lines == .coded ? row.lines : lines
        } else if stack.lines == .numbered {
            let numbers = Set(lines.map { $0.prefix { $0 != "|" } })
            row.lines = row.lines.filter { !numbers.contains($0.prefix { $0 != "|" }) }.union(lines)
        } else {
            row.lines.formUnion(lines)
        }
        rows[identity] = row
    }

    /// Gives each line with a code to its item.
    private mutating func assign(
        _ document: RandomDocument, _ owners: [String: String], _ stack: RandomStack,
        _ last: [String: RandomDocument.Item]
    ) {
        func code(_ line: String) -> String { String(line.prefix { $0 != "|" }) }
        for identity in rows.keys {
            let kept: Set<String>? = rows[identity]?.lines.filter { !stack.isMirror && owners[code($0)] == nil }
            rows[identity]?.lines = kept ?? []
        }
        for (identity, item) in last {
            for line in item.lines where owners[line.code] == identity {
                let others: Set<String>? = rows[identity]?.lines.filter { code($0) != line.code }
                rows[identity]?.lines = (others ?? []).union(["\(line.code)|\(line.text ?? "NULL")"])
            }
        }
    }

    /// A mirrored maker that is gone takes the references to it along, where the mapping allows it.
    private mutating func dropReferences(_ stack: RandomStack) {
        guard stack.reference == .null || stack.reference == .discard else { return }
        for (identity, row) in rows where row.maker.map({ makers[$0] == nil }) == true { rows[identity]?.maker = nil }
    }

    private static func paths(_ nodes: [RandomDocument.Node], _ prefix: String) -> Set<String> {
        nodes.reduce(into: []) { result, node in
            result.insert(prefix + node.name)
            result.formUnion(paths(node.children, prefix + node.name + "/"))
        }
    }

    // MARK: - Spellings

    private static func identity(_ item: RandomDocument.Item, _ stack: RandomStack) -> String {
        identity(item.id, item.part, stack.second == .otherScope ? item.region : nil, stack)
    }

    private static func identity(_ id: String, _ part: Int, _ region: String?, _ stack: RandomStack) -> String {
        // Swift equates canonically equivalent texts; stores do not.
        let key = canonicalKey(id, part, stack)
        return key.unicodeScalars.map { String($0.value) }.joined(separator: " ") + (region ?? "")
    }

    /// The one spelling of a key that stands for all that the store equates.
    static func canonicalKey(_ id: String, _ part: Int, _ stack: RandomStack) -> String {
        switch stack.key {
        case .text, .unicode, .generated: id
        case .noCase: id.lowercased()
        case .integer: Int(id).map { String($0) } ?? id
        case .decimal: canonicalNumber(id)
        case .time: canonicalTime(id)
        case .composite: id + "|\(part)"
        }
    }

    static func canonicalNumber(_ text: String) -> String {
        guard text.contains(".") else { return text }
        var digits = Substring(text)
        while digits.last == "0" { digits.removeLast() }
        if digits.last == "." { digits.removeLast() }
        return String(digits)
    }

    /// Without the zeros of a fraction.
    static func canonicalTime(_ text: String) -> String {
        text.hasSuffix("Z") ? canonicalNumber(String(text.dropLast())) + "Z" : text
    }
}
