import Foundation
import Testing
import TributaryEngine

/// `Documentation/Metrics.md` says what the engine tells.
@Suite struct MetricReferenceTests {
    private struct Metric: Hashable {
        var name: String
        var kind: String
        var labels: Set<String>
    }

    @Test func everyMetricIsDescribedAndNoOther() throws {
        let page = try MarkdownFile("Documentation/Metrics.md")
        let rows = page.lines.map(\.cells).filter { $0.count == 4 && $0[0].hasPrefix("`tributary_") }
        let described = Set(
            rows.map { Metric(name: $0[0].codeWords[0], kind: $0[1], labels: Set($0[2].codeWords)) })
        let told = Set(
            MetricDefinition.all.map { Metric(name: $0.name, kind: $0.kind.rawValue, labels: Set($0.labels)) })
        #expect(told.subtracting(described) == [], "metrics that Metrics.md does not have")
        #expect(described.subtracting(told) == [], "metrics that there are not")
    }
}
