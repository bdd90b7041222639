import Foundation

/// Sources, feeds and what happens to them: everything that a round does, as values, so that it can be done again with less.
struct ModelScenario: Sendable {
    struct Request: Sendable, Equatable {
        var key: String
        var feed: Int
        var table: ModelTable
        var sync: String
        /// The scope's region.
        var region: String?
        /// Whether the feed has the region itself.
        var fillsRegion: Bool
        var allowsEmpty: Bool

        /// The columns that its rows have, the scope's included.
        var columns: [String] { table.columns.filter { $0 != "region" || fillsRegion || region != nil } }
    }

    enum Fault: String, Sendable { case none, refused, truncated, malformed }

    struct Feed: Sendable {
        var rows: [ModelRow] = []
        /// Without an entity tag, the body's digest says whether it has changed.
        var hasTag = true
    }

    enum Step: Sendable {
        case publish(feed: Int, rows: [ModelRow])
        case fault(feed: Int, ModelScenario.Fault)
        case jump(seconds: Double)
        case declare(source: Int, [Request])
        /// One source, by one of two engines on the same store.
        case run(source: Int, engine: Int, mode: String)
        /// Two sources at the same time, each by an engine of its own.
        case runBoth(Int, Int)
        /// The program runs one source, and is killed so long after one of its requests has come.
        case kill(source: Int, request: Int, microseconds: UInt32)
    }

    var seed: UInt64
    var features: ModelFeatures
    /// `ON DELETE CASCADE`, or nothing.
    var action: String
    var feeds: [Feed]
    var sources: [[Request]]
    var steps: [Step]

    static func name(ofSource index: Int) -> String { "s\(index)" }

    // MARK: - As text

    /// `sources.toml`, but for `[store]`.
    static func toml(_ sources: [[Request]], url: String) -> String {
        sources.enumerated().map { index, requests in
            let source = "sources." + name(ofSource: index)
            return "[\(source)]\ncache = \"15m\"\n" + requests.map { toml($0, source, url: url) }.joined()
        }.joined()
    }

    private static func toml(_ request: Request, _ source: String, url: String) -> String {
        let columns = request.table.columns.filter { $0 != "region" || request.fillsRegion }
        return """
            [[\(source).requests]]
            key = "\(request.key)"
            url = "\(url)/f\(request.feed)"
            sync = "\(request.sync)"
            allow_empty = \(request.allowsEmpty)
            \(request.region.map { "scope = { region = \"\($0)\" }" } ?? "")
            [[\(source).requests.tables]]
            table = "\(request.table)"
            element = "row"
            \(request.table.key.map { "key = [\"\($0)\"]" } ?? "")
            [\(source).requests.tables.columns]
            \(columns.map { "\($0) = \"@\($0)\"" }.joined(separator: "\n"))

            """
    }

    static func document(_ rows: [ModelRow]) -> String {
        let elements = rows.map { row in
            let attributes = row.sorted { $0.key < $1.key }.compactMap { name, value in value.map { "\(name)='\($0)'" }
            }
            return "<row \(attributes.joined(separator: " "))/>"
        }
        return "<rows>" + elements.joined() + "</rows>"
    }

    var description: String {
        var lines = ["seed \(seed); employees: \(action.isEmpty ? "no action" : action)"]
        lines += sources.enumerated().map { "  source s\($0): " + $1.map(Self.words).joined(separator: "; ") }
        lines += feeds.enumerated().map {
            "  feed f\($0)\($1.hasTag ? "" : " (no tag)"): \(Self.document($1.rows))"
        }
        lines += steps.enumerated().map { "  \($0 + 1). " + Self.words($1) }
        return lines.joined(separator: "\n")
    }

    private static func words(_ request: Request) -> String {
        "\(request.key) = f\(request.feed) \(request.sync) \(request.table)"
            + (request.region.map { " in region \($0)" } ?? "") + (request.fillsRegion ? ", fills region" : "")
            + (request.allowsEmpty ? ", may be empty" : "")
    }

    private static func words(_ step: Step) -> String {
        switch step {
        case .publish(let feed, let rows): "f\(feed) becomes \(document(rows))"
        case .fault(let feed, let fault): "f\(feed) from now on: \(fault == .none ? "well" : fault.rawValue)"
        case .jump(let seconds): "the clock jumps by \(seconds) s"
        case .declare(let source, let requests):
            "s\(source) is declared anew: " + requests.map(words).joined(separator: "; ")
        case .run(let source, let engine, let mode): "engine \(engine) runs s\(source) (\(mode))"
        case .kill(let source, let request, let microseconds):
            "the program runs s\(source) and is killed \(microseconds) µs after request \(request) has come"
        case .runBoth(let first, let second): "engine 0 runs s\(first) while engine 1 runs s\(second)"
        }
    }
}
