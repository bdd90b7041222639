import Foundation
import TestSupport

/// What a publisher has at one time: the documents of a ``RandomStack``, as records.
struct RandomDocument: Sendable {
    struct Line: Sendable {
        var code: String
        var text: String?
    }

    struct Item: Sendable {
        var region: String
        /// As the document spells it.
        var id: String
        var part: Int
        var name: String?
        var amount: String?
        var seen: Date
        var maker: String?
        var lines: [Line]
    }

    /// A node of a tree. No two of its children have one name.
    struct Node: Sendable {
        var name: String
        var children: [Node]
    }

    struct Maker: Sendable {
        var name: String
        var city: String
    }

    struct Extra: Sendable {
        var id: String
        var part: Int
        var text: String
    }

    var items: [Item] = []
    var nodes: [Node] = []
    var makers: [Maker] = []
    /// The rows of a second request that fills another column.
    var extras: [Extra] = []

    // MARK: - As XML

    func xml(_ request: String, of stack: RandomStack) -> String {
        if request == "b", stack.second == .otherColumns {
            let rows = extras.map { "<item id=\"\($0.id)\" part=\"\($0.part)\" extra=\"\($0.text)\"/>" }
            return "<items>\(rows.joined())</items>"
        }
        let region = request == "a" ? "north" : "south"
        var text = "<items>"
        text += makers.map { "<maker name=\"\($0.name)\" city=\"\($0.city)\"/>" }.joined()
        for item in items where item.region == region || stack.second != .otherScope {
            text += "<item id=\"\(item.id)\" part=\"\(item.part)\" seen=\"\(item.seen.formatted(.iso8601))\""
            if stack.second == .otherScope { text += " region=\"\(region)\"" }
            if let name = item.name { text += " name=\"\(name)\"" }
            if let amount = item.amount { text += " amount=\"\(amount)\"" }
            if let maker = item.maker { text += " maker=\"\(maker)\"" }
            let lines = item.lines.map { line in
                "<line code=\"\(line.code)\"" + (line.text.map { " text=\"\($0)\"" } ?? "") + "/>"
            }
            text += ">\(lines.joined())</item>"
        }
        return text + nodes.map { Self.xml($0, in: "") }.joined() + "</items>"
    }

    /// - Parameter path: the names of the nodes around it.
    private static func xml(_ node: Node, in path: String) -> String {
        let code = path + node.name
        let children = node.children.map { xml($0, in: code + "/") }
        return "<node code=\"\(code)\" name=\"\(node.name)\">\(children.joined())</node>"
    }

    // MARK: - At random

    /// When the first document is published. The clock goes on by a day with each.
    static let epoch = Date(timeIntervalSince1970: 1_800_000_000)

    /// Makes a document for a stack, mostly like the last one.
    init(after last: RandomDocument?, of stack: RandomStack, using random: inout SplitMix64) {
        self = last ?? RandomDocument()
        items.removeAll { _ in random.oneIn(4) }
        nodes.removeAll { _ in random.oneIn(4) }
        makers.removeAll { _ in random.oneIn(5) }
        extras.removeAll { _ in random.oneIn(4) }
        if random.oneIn(15) { items = [] }
        if stack.reference == .null || stack.reference == .discard {
            for number in 0..<4 where !makers.contains(where: { $0.name == "m\(number)" }) && random.oneIn(2) {
                makers.append(Maker(name: "m\(number)", city: "c\(Int.random(in: 0..<3, using: &random))"))
            }
            for index in makers.indices where random.oneIn(4) {
                makers[index].city = "c\(Int.random(in: 0..<3, using: &random))"
            }
        }
        for index in items.indices where random.oneIn(3) {
            items[index] = item(of: stack, id: items[index].id, part: items[index].part, using: &random)
        }
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let id = Self.key(of: stack, using: &random)
            items.append(item(of: stack, id: id, part: Int.random(in: 1...2, using: &random), using: &random))
        }
        if stack.reference == .discard, !random.oneIn(6) {
            // Most documents are whole.
            for index in items.indices where !makers.contains(where: { $0.name == items[index].maker }) {
                items[index].maker = nil
            }
        }
        if stack.hasTree {
            nodes = Self.grown(nodes, depth: 0, using: &random)
        }
        if stack.second == .otherColumns {
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let id = Self.key(of: stack, using: &random)
                let text = "e\(Int.random(in: 0..<4, using: &random))"
                extras.append(Extra(id: id, part: Int.random(in: 1...2, using: &random), text: text))
            }
        }
        if random.oneIn(3) { items.shuffle(using: &random) }
    }

    private init() {}

    private func item(of stack: RandomStack, id: String, part: Int, using random: inout SplitMix64) -> Item {
        var lines: [Line] = []
        if stack.lines != .absent {
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let code = "l\(Int.random(in: 0..<12, using: &random))"
                lines.append(
                    Line(code: code, text: random.oneIn(6) ? nil : "t\(Int.random(in: 0..<3, using: &random))"))
            }
        }
        let amounts = ["1", "1.0", "2.50", "2.5", "-3", "0.10", "12345678901.25"]
        return Item(
            region: stack.regions.randomElement(using: &random) ?? "north", id: id, part: part,
            name: random.oneIn(6) ? nil : "n\(Int.random(in: 0..<4, using: &random))",
            amount: random.oneIn(6) ? nil : amounts.randomElement(using: &random),
            seen: Self.epoch - ([-1, 0, 26, 28, 31, 400].randomElement(using: &random) ?? 0) * 86_400,
            maker: random.oneIn(4) ? nil : "m\(Int.random(in: 0..<4, using: &random))", lines: lines)
    }

    /// One of a few keys, in one of the spellings that the store equates.
    private static func key(of stack: RandomStack, using random: inout SplitMix64) -> String {
        let number = Int.random(in: 0..<7, using: &random)
        switch stack.key {
        case .text, .composite, .generated: return "k\(number)"
        case .unicode: return ["é", "e\u{301}", "É", "ß", "SS", "🙂", "ı"][number]
        case .noCase: return (random.oneIn(2) ? "K" : "k") + "\(number)"
        case .integer: return (random.oneIn(3) ? "0" : "") + "\(number)"
        case .decimal: return "\(number)" + (["", ".0", ".00", ".50", ".5"].randomElement(using: &random) ?? "")
        case .time:
            return ["Z", ".000Z", ".500Z", ".5Z"].randomElement(using: &random).map {
                "2026-01-0\(number + 1)T12:00:00" + $0
            }
                ?? ""
        }
    }

    private static func grown(_ nodes: [Node], depth: Int, using random: inout SplitMix64) -> [Node] {
        var nodes = nodes
        for index in nodes.indices where random.oneIn(2) {
            nodes[index].children.removeAll { _ in random.oneIn(5) }
            if depth < 3 { nodes[index].children = grown(nodes[index].children, depth: depth + 1, using: &random) }
        }
        for name in ["x", "y", "z"] where random.oneIn(3) && !nodes.contains(where: { $0.name == name }) {
            nodes.append(Node(name: name, children: []))
        }
        return nodes
    }
}
