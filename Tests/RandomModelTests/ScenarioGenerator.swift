import TestSupport

/// Makes scenarios of seeds.
struct ScenarioGenerator {
    private var random: SplitMix64
    private let features: ModelFeatures
    /// As they are at this step, and as they began.
    private var feeds: [ModelScenario.Feed] = []
    private var firstFeeds: [ModelScenario.Feed] = []
    private var sources: [[ModelScenario.Request]] = []
    private var faulty: Set<Int> = []
    /// Tables that one source mirrors whole: no other mirrors them.
    private var wholeMirrors: [ModelTable: Int] = [:]
    /// The source of each feed.
    private var owners: [Int] = []
    /// Tables in which sources write rows of the same keys.
    private var shared: Set<ModelTable> = []

    private init(_ seed: UInt64, _ features: ModelFeatures) {
        random = SplitMix64(seed: seed)
        self.features = features
    }

    /// - Parameter rounds: how often feeds change and a source or two run.
    static func scenario(seed: UInt64, features: ModelFeatures, rounds: Int) -> ModelScenario {
        var generator = ScenarioGenerator(seed, features)
        return generator.scenario(seed, rounds)
    }

    /// A scenario in which the program runs sources and is killed, and an engine runs all of them at the end.
    static func killings(seed: UInt64, features: ModelFeatures, rounds: Int) -> ModelScenario {
        var generator = ScenarioGenerator(seed, features)
        var scenario = generator.scenario(seed, rounds)
        scenario.steps = scenario.steps.compactMap { step in
            switch step {
            case .jump: return nil
            case .run(let source, _, _), .runBoth(let source, _):
                return .kill(
                    source: source, request: Int.random(in: 1...3, using: &generator.random),
                    microseconds: generator.random.oneIn(3)
                        ? 0 : UInt32.random(in: 0...30_000, using: &generator.random))
            default: return step
            }
        }
        scenario.steps += scenario.sources.indices.map { .run(source: $0, engine: 1, mode: "force") }
        return scenario
    }

    private mutating func scenario(_ seed: UInt64, _ count: Int) -> ModelScenario {
        let actions = features.contains(.cascades) ? ["", "ON DELETE CASCADE", "ON DELETE SET NULL"] : [""]
        let action = actions.randomElement(using: &random) ?? ""
        // A few tables a round, so that sources meet in them.
        let themes: [[ModelTable]] = [[.item], [.coded], [.numbered], [.folded], [.log], [.company, .employee]]
        let tables = themes.shuffled(using: &random).prefix(Int.random(in: 1...2, using: &random)).flatMap(\.self)
        shared = Set(tables.filter { _ in random.oneIn(2) })
        for source in 0..<Int.random(in: 1...4, using: &random) {
            sources.append([])
            for number in 0..<Int.random(in: 1...3, using: &random) {
                sources[source].append(request(number, of: source, tables))
            }
        }
        let initialSources = sources
        var steps: [ModelScenario.Step] = sources.indices.map { .run(source: $0, engine: 0, mode: "force") }
        for _ in 0..<count { steps += next(tables) }
        return ModelScenario(
            seed: seed, features: features, action: action, feeds: firstFeeds, sources: initialSources, steps: steps)
    }

    // MARK: - Declarations

    private mutating func request(_ number: Int, of source: Int, _ tables: [ModelTable]) -> ModelScenario.Request {
        let table = tables.randomElement(using: &random) ?? .item
        var request = ModelScenario.Request(
            key: "r\(number)", feed: feeds.count, table: table, sync: "upsert", region: nil, fillsRegion: false,
            allowsEmpty: random.oneIn(2))
        feeds.append(ModelScenario.Feed(hasTag: !random.oneIn(4)))
        owners.append(source)
        vary(&request, of: source)
        feeds[request.feed].rows = rows(of: request, [])
        firstFeeds.append(feeds[request.feed])
        return request
    }

    /// Chooses how the request's rows are merged.
    private mutating func vary(_ request: inout ModelScenario.Request, of source: Int) {
        let modes =
            request.table.key == nil
            ? ["append", "upsert", "mirror"] : ["insert", "upsert", "mirror", "mirror", "mirror"]
        let mayMirror = features.contains(.movesBetweenScopes) || !shared.contains(request.table)
        let mayAppend = features.contains(.appendsBesideMirrors)
        request.sync =
            modes.filter { ($0 != "mirror" || mayMirror) && ($0 != "append" || mayAppend) }
            .randomElement(using: &random) ?? "upsert"
        let own = region(of: source, in: request.table)
        request.region = random.oneIn(3) ? nil : own
        if request.sync == "mirror" {
            // Two sources never mirror the same rows.
            let mirrors = isMirroredByOthers(request.table, than: source)
            if wholeMirrors[request.table] == nil, !mirrors, random.oneIn(3) { wholeMirrors[request.table] = source }
            if let owner = wholeMirrors[request.table], owner != source { request.sync = "upsert" }
            request.region = wholeMirrors[request.table] == source && random.oneIn(2) ? nil : own
        }
        if !features.contains(.movesBetweenScopes) {
            request.region = nil
            if request.sync == "mirror", isMirroredByOthers(request.table, than: source) { request.sync = "upsert" }
        }
        request.fillsRegion =
            request.region == nil
            ? request.table == .log || random.oneIn(2)
            : features.contains(.feedsFillScope) && random.oneIn(3)
    }

    private func isMirroredByOthers(_ table: ModelTable, than source: Int) -> Bool {
        sources.enumerated().contains { other, requests in
            other != source && requests.contains { $0.table == table && $0.sync == "mirror" }
        }
    }

    /// One of a source's own two regions of a table, in one of the ways in which the column equates it.
    private mutating func region(of source: Int, in table: ModelTable) -> String {
        let varies = features.contains(.columnEquality) && random.oneIn(3)
        let number = 2 * source + Int.random(in: 1...2, using: &random)
        switch table {
        case .numbered: return (varies ? "0" : "") + String(number)
        case .folded: return (varies ? "R" : "r") + String(number)
        default: return "r\(number)"
        }
    }

    // MARK: - Feeds

    /// What a feed holds next.
    private mutating func rows(of request: ModelScenario.Request, _ last: [ModelRow]) -> [ModelRow] {
        if !last.isEmpty, random.oneIn(12) { return [] }
        var rows = last.filter { _ in !random.oneIn(4) }
        if features.contains(.uniqueSwaps), request.table == .coded, rows.count > 1, random.oneIn(2) {
            let codes = rows.map { $0["code"] ?? nil }
            let shift = Int.random(in: 1..<rows.count, using: &random)
            for index in rows.indices { rows[index]["code"] = codes[(index + shift) % codes.count] }
        }
        for index in rows.indices where random.oneIn(4) { rows[index] = changed(rows[index], request) }
        for _ in 0..<Int.random(in: 0...3, using: &random) { rows.append(row(of: request)) }
        return random.oneIn(3) ? rows.shuffled(using: &random) : rows
    }

    private mutating func row(of request: ModelScenario.Request) -> ModelRow {
        var row: ModelRow = [:]
        let owner = random.oneIn(3) ? stranger(of: request) ?? request.feed : request.feed
        let number = Int.random(in: 0..<6, using: &random)
        let varies = features.contains(.columnEquality) && random.oneIn(4)
        switch request.table {
        case .log: break
        case .numbered: row["id"] = (varies ? "0" : "") + String(owner * 10 + number + 1)
        case .folded: row["id"] = (varies ? "K" : "k") + "\(owner)-\(number)"
        default: row["id"] = "k\(owner)-\(number)"
        }
        return changed(row, request)
    }

    /// Another source's request whose keys the request may write, too.
    private mutating func stranger(of request: ModelScenario.Request) -> Int? {
        guard shared.contains(request.table) else { return nil }
        // One of a source's requests: two of them would have no order in which their rows count.
        let ours = sources.joined().filter { $0.table == request.table && owners[$0.feed] == owners[request.feed] }
        guard ours.allSatisfy({ $0.feed >= request.feed }) else { return nil }
        return sources.joined().filter { $0.table == request.table && owners[$0.feed] != owners[request.feed] }
            .randomElement(using: &random)?.feed
    }

    private mutating func changed(_ row: ModelRow, _ request: ModelScenario.Request) -> ModelRow {
        var row = row
        let value = Int.random(in: 0..<5, using: &random)
        switch request.table {
        case .coded:
            row["code"] =
                features.contains(.uniqueSwaps) && random.oneIn(2)
                ? "c\(value)" : "\((row["id"] ?? nil) ?? "")-\(value)"
        case .employee:
            let ids = sources.joined().filter { $0.table == .company }.flatMap { feeds[$0.feed].rows }.map(\.["id"])
            row["company"] = .some(
                random.oneIn(10) ? "nobody" : ids.randomElement(using: &random).flatMap { $0 ?? nil })
        default:
            row["name"] = .some(random.oneIn(8) ? nil : "n\(value)")
        }
        if request.fillsRegion {
            let source = random.oneIn(2) ? owners[request.feed] : Int.random(in: 0...3, using: &random)
            row["region"] = .some(random.oneIn(8) ? nil : region(of: source, in: request.table))
        }
        return row
    }

    // MARK: - Steps

    private mutating func next(_ tables: [ModelTable]) -> [ModelScenario.Step] {
        var steps: [ModelScenario.Step] = []
        for feed in feeds.indices where random.oneIn(3) {
            guard let request = sources.joined().first(where: { $0.feed == feed }) else { continue }
            feeds[feed].rows = rows(of: request, feeds[feed].rows)
            steps.append(.publish(feed: feed, rows: feeds[feed].rows))
        }
        for feed in faulty where random.oneIn(2) {
            faulty.remove(feed)
            steps.append(.fault(feed: feed, .none))
        }
        if random.oneIn(5), let feed = feeds.indices.randomElement(using: &random) {
            faulty.insert(feed)
            let fault = [ModelScenario.Fault.refused, .truncated, .malformed].randomElement(using: &random) ?? .refused
            steps.append(.fault(feed: feed, fault))
        }
        if random.oneIn(6) {
            let jumps = [600, 7200, 200_000, 40_000_000, -600, -200_000, -40_000_000] as [Double]
            steps.append(.jump(seconds: jumps.randomElement(using: &random) ?? 600))
        }
        if random.oneIn(6) { steps.append(declaration(tables)) }
        let source = Int.random(in: 0..<sources.count, using: &random)
        if sources.count > 1, random.oneIn(4) {
            let other = (source + Int.random(in: 1..<sources.count, using: &random)) % sources.count
            steps.append(.runBoth(source, other))
        } else {
            let mode = ["force", "force", "force", "due", "full"].randomElement(using: &random) ?? "force"
            steps.append(.run(source: source, engine: Int.random(in: 0...1, using: &random), mode: mode))
        }
        return steps
    }

    private mutating func declaration(_ tables: [ModelTable]) -> ModelScenario.Step {
        let source = Int.random(in: 0..<sources.count, using: &random)
        var requests = sources[source]
        switch Int.random(in: 0..<3, using: &random) {
        case 0 where requests.count > 1:
            requests.remove(at: Int.random(in: 0..<requests.count, using: &random))
        case 1 where requests.count < 4:
            requests.append(request(requests.count + 10 * feeds.count, of: source, tables))
        default:
            let index = Int.random(in: 0..<requests.count, using: &random)
            vary(&requests[index], of: source)
        }
        sources[source] = requests
        return .declare(source: source, requests)
    }
}
