import CoreMetrics
import Foundation
import Metrics
import Testing

@testable import TributaryWeb

/// What a registry tells, in the words of Prometheus' text format 0.0.4.
@Suite struct ExpositionTests {
    private static let descriptions = [
        MetricDescription(name: "t_runs_total", help: "Runs, in a \\ and \"two\"\nlines."),
        MetricDescription(name: "t_bytes_total", help: "Bytes."),
        MetricDescription(name: "t_last_seconds", help: "When."),
        MetricDescription(name: "t_run_seconds", help: "How long.", buckets: [1, 0.5, .infinity, 2]),
    ]

    private let registry = PrometheusRegistry(Self.descriptions, limit: 100, hasProcess: false)

    private func lines() -> [String] {
        let text = registry.exposition().text
        #expect(text.hasSuffix("\n"))
        return text.split(separator: "\n").map(String.init)
    }

    private func fill() {
        let counter = Counter(
            label: "t_runs_total", dimensions: [("source", "s"), ("outcome", "good")], factory: registry)
        counter.increment(by: 3)
        Counter(label: "t_bytes_total", factory: registry).increment(by: 1 << 40)
        Meter(label: "t_last_seconds", dimensions: [("source", "a\\b\"c\nd\u{1F600}")], factory: registry).set(1.25)
        let timer = Timer(label: "t_run_seconds", factory: registry)
        timer.recordMilliseconds(500)
        timer.recordSeconds(1.5)
        timer.recordSeconds(7)
    }

    @Test func prometheusText() {
        fill()
        #expect(
            lines() == [
                "# HELP metrics_refused_series_total Series that were left out: their name was another metric's, or there were too many.",
                "# TYPE metrics_refused_series_total counter",
                "metrics_refused_series_total 0",
                "# HELP t_bytes_total Bytes.",
                "# TYPE t_bytes_total counter",
                "t_bytes_total 1099511627776",
                "# HELP t_last_seconds When.",
                "# TYPE t_last_seconds gauge",
                "t_last_seconds{source=\"a\\\\b\\\"c\\nd\u{1F600}\"} 1.25",
                "# HELP t_run_seconds How long.",
                "# TYPE t_run_seconds histogram",
                "t_run_seconds_bucket{le=\"0.5\"} 1",
                "t_run_seconds_bucket{le=\"1\"} 1",
                "t_run_seconds_bucket{le=\"2\"} 2",
                "t_run_seconds_bucket{le=\"+Inf\"} 3",
                "t_run_seconds_sum 9",
                "t_run_seconds_count 3",
                "# HELP t_runs_total Runs, in a \\\\ and \"two\"\\nlines.",
                "# TYPE t_runs_total counter",
                "t_runs_total{outcome=\"good\",source=\"s\"} 3",
            ])
    }

    @Test func namesThatNobodyMayHaveAreMadeSuchAsTheyMay() {
        Meter(
            label: "hb.re quests-é", dimensions: [("http.route", "/"), ("__x", "1"), ("empty", "")], factory: registry
        ).set(1)
        Meter(label: "9lives", dimensions: [("le", "1"), ("0", "2")], factory: registry).set(2)
        Meter(label: "", factory: registry).set(Double.infinity)
        let values = lines().filter { !$0.hasPrefix("#") }
        #expect(
            values == [
                "_ +Inf", "_9lives{_0=\"2\",exported_le=\"1\"} 2",
                "hb_re_quests__{exported___x=\"1\",http_route=\"/\"} 1", "metrics_refused_series_total 0",
            ])
    }

    @Test func valuesAreWrittenAsGoReadsThem() {
        for (name, value) in [
            ("a", Double.nan), ("b", -Double.infinity), ("c", 1e300), ("d", -0.0), ("e", 2.5e-9), ("f", 0.1),
        ] {
            Meter(label: name, factory: registry).set(value)
        }
        let values = lines().filter { !$0.hasPrefix("#") && $0.count < 20 }
        #expect(values == ["a NaN", "b -Inf", "c 1e+300", "d 0", "e 2.5e-09", "f 0.1"])
    }
}
