import Foundation
import TributaryWeb
import TestSupport
import Testing
import TributaryEngine

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What Prometheus' own programs say of what is told, of the alerts and of the dashboard.
@Suite struct PrometheusTests {
    @Test(.enabled(if: Tool.isInstalled("promtool"))) func promtoolFindsNoFault() async throws {
        try await withTemporaryFolder { folder in
            for isPerSource in [true, false] {
                let engine = MeasuredEngine(sources: 7, perSource: isPerSource)
                engine.work()
                let file = try folder.write(engine.text(), to: "metrics-\(isPerSource).txt")
                let check = try Tool("promtool", ["check", "metrics"], input: file, in: folder)
                let status = await check.end()
                #expect(status == 0 && check.output.isEmpty, "\(check.output)")
            }
        }
    }

    @Test(.enabled(if: Tool.isInstalled("promtool"))) func theAlertsFireWhenTheyShould() async throws {
        try await withTemporaryFolder { folder in
            for arguments in [
                ["check", "rules", "prometheus-alerts.yml"], ["test", "rules", "prometheus-alerts.test.yml"],
            ] {
                let path = Documents.path(arguments[2])
                let check = try Tool("promtool", Array(arguments.dropLast()) + [path], in: folder)
                let status = await check.end()
                #expect(status == 0, "\(check.output)")
            }
        }
    }

    @Test func eachAlertIsTested() throws {
        let alerts = try Documents.text("prometheus-alerts.yml").matches(of: /alert: (\w+)/).map { String($0.1) }
        let tests = try Documents.text("prometheus-alerts.test.yml")
        #expect(alerts.count > 5)
        for alert in alerts {
            let isTested = tests.contains("alertname: \(alert)\n        exp_alerts:")
            #expect(isTested, "\(alert)")
        }
    }

    @Test func alertsAndDashboardNameMetricsThatThereAre() throws {
        let engine = MeasuredEngine(sources: 3)
        engine.work()
        let known = Documents.metricNames(in: engine.text())
        #expect(known.isSuperset(of: MetricDefinition.all.map(\.name).filter { $0 != "tributary_build_info" }))
        let dashboard = try Documents.dashboard()
        let used = Documents.metricNames(in: dashboard.expressions.joined(separator: "\n"))
        #expect(used.count > 15 && used.isSubset(of: known), "\(used.subtracting(known))")
        let expressions = try Documents.text("prometheus-alerts.yml").split(separator: "\n")
            .filter { $0.contains("expr:") || $0.contains("sum by") }
        let alerting = Documents.metricNames(in: expressions.joined(separator: "\n"))
        #expect(alerting.count > 5 && alerting.isSubset(of: known), "\(alerting.subtracting(known))")
    }

    @Test func eachMetricIsDocumented() throws {
        let engine = MeasuredEngine(sources: 3)
        engine.work()
        let told = Set(engine.text().matches(of: /(?m)^# TYPE (\S+)/).map { String($0.1) })
        var documented: [String: (kind: String, labels: Set<String>)] = [:]
        for line in try Documents.text("Metrics.md").split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            func names(_ cell: Substring) -> [String] { cell.matches(of: /`(\w+)`/).map { String($0.1) } }
            let kind = cells[2].filter { $0 != " " }
            for name in names(cells[1]) { documented[name] = (kind, Set(names(cells[3]))) }
        }
        let (missing, unknown) = (told.subtracting(documented.keys), Set(documented.keys).subtracting(told))
        #expect(missing.isEmpty && unknown.isEmpty, "not documented: \(missing); not there: \(unknown)")
        for definition in MetricDefinition.all {
            let row = documented[definition.name]
            let isRight = row?.kind == definition.kind.rawValue && row?.labels == Set(definition.labels)
            #expect(isRight, "\(definition.name)")
        }
    }

    @Test func theDashboardIsOneThatGrafanaLoads() throws {
        let dashboard = try Documents.dashboard()
        #expect(dashboard.title == "Tributary" && dashboard.uid == "tributary" && dashboard.schemaVersion == 38)
        let ids = dashboard.panels.map(\.id)
        #expect(Set(ids).count == ids.count && Set(dashboard.panels.map(\.title)).count == ids.count)
        let variables = Set(dashboard.templating.list.map(\.name)).union(["__rate_interval"])
        #expect(variables.isSuperset(of: ["datasource", "job", "instance", "source"]))
        var taken: Set<[Int]> = []
        for panel in dashboard.panels {
            let place = panel.gridPos
            #expect(place.x >= 0 && place.x + place.w <= 24 && place.h > 0)
            for x in place.x..<place.x + place.w {
                for y in place.y..<place.y + place.h {
                    let isFree = taken.insert([x, y]).inserted
                    #expect(isFree, "\(panel.title) overlaps another panel")
                }
            }
            guard panel.type != "row" else { continue }
            #expect(["stat", "timeseries", "table"].contains(panel.type))
            let targets = try #require(panel.targets)
            #expect(!targets.isEmpty && Set(targets.map(\.refId)).count == targets.count)
            #expect(targets.allSatisfy { $0.datasource.uid == "${datasource}" && $0.datasource.type == "prometheus" })
            for name in targets.flatMap({ $0.expr.matches(of: /\$(\w+)/) }).map({ String($0.1) }) {
                #expect(variables.contains(name), "\(panel.title) uses $\(name)")
            }
        }
    }

    @Test(.enabled(if: Tool.isInstalled("prometheus")), arguments: [true, false])
    func prometheusReadsAllOfItAndAnswersThePanels(isPerSource: Bool) async throws {
        try await withStubServer { (server) async throws in
            try await withTemporaryFolder { (folder) async throws in
                let engine = MeasuredEngine(sources: 9, perSource: isPerSource)
                server.route("/metrics") { _ in
                    engine.work()
                    return StubServer.response(200, engine.text(), ["Content-Type": Exposition.contentType])
                }
                let rules = Documents.path("prometheus-alerts.yml")
                let file = try folder.write(
                    """
                    global: { scrape_interval: 250ms, scrape_timeout: 250ms, evaluation_interval: 200ms }
                    rule_files: ["\(rules)"]
                    scrape_configs:
                      - { job_name: tributary, static_configs: [{ targets: ["127.0.0.1:\(server.port)"] }] }

                    """, to: "prometheus.yml")
                let prometheus = try Tool(
                    "prometheus",
                    [
                        "--config.file=\(file)", "--storage.tsdb.path=\(folder.file("data"))",
                        "--web.listen-address=127.0.0.1:0",
                    ], in: folder)
                let result: Result<Void, any Error>
                do {
                    result = .success(try await check(prometheus, isPerSource: isPerSource))
                } catch {
                    result = .failure(error)
                }
                await prometheus.stop()
                try result.get()
            }
        }
    }

    private struct Answer: Decodable {
        struct Content: Decodable {
            struct Sample: Decodable { var metric: [String: String] }
            var result: [Sample]?
        }

        var status: String
        var error: String?
        var data: Content?
    }

    private func check(_ prometheus: Tool, isPerSource: Bool) async throws {
        var address: Substring?
        try await until("it listens") {
            address = prometheus.output.firstMatch(of: /msg="Listening on" address=([0-9.:]+)/)?.1
            return address != nil
        }
        let server = "http://\(try #require(address))/api/v1/"
        func query(_ expression: String) async throws -> Answer {
            var components = try #require(URLComponents(string: server + "query"))
            components.queryItems = [URLQueryItem(name: "query", value: expression)]
            let data = try await URLSession.shared.data(from: #require(components.url)).0
            return try JSONDecoder().decode(Answer.self, from: data)
        }
        // It must have scraped often enough for rates.
        try await until("it has scraped") {
            let answer = try? await query("count_over_time(tributary_build_info[1m]) > 2")
            return answer?.data?.result?.isEmpty == false
        }
        for expression in try Documents.dashboard().expressions {
            let asked = expression.replacing("$__rate_interval", with: "1m").replacing("$job", with: "tributary")
                .replacing("$instance", with: ".*").replacing("$source", with: ".*")
            // A scrape that took too long, on a machine that is busy, leaves a gap.
            try await until("data for \(asked)") {
                let answer = try await query(asked)
                guard answer.status == "success" else { throw Refused(expression: asked, error: answer.error ?? "") }
                return answer.data?.result?.isEmpty == false
            }
        }
        let labels = try await query("last_over_time(tributary_consecutive_failures[1m])").data?.result?.map(\.metric)
        #expect(labels?.count == (isPerSource ? 9 : 1))
        let rules = try await URLSession.shared.data(from: #require(URL(string: server + "rules"))).0
        let text = String(decoding: rules, as: UTF8.self)
        #expect(text.contains("TributarySourceBlocked") && !text.contains("\"health\":\"err\""))
    }

    private struct Late: Error { var what: String }

    private struct Refused: Error {
        var expression: String
        var error: String
    }

    /// Waits for something that happens by itself.
    private func until(_ what: String, _ isSo: () async throws -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while try await !isSo() {
            guard ContinuousClock.now < deadline else { throw Late(what: what) }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
