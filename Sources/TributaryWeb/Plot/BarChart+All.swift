import FeedModel
import TributaryEngine

extension BarChart {
    /// The charts of a source's page.
    static func all(_ timeline: Timeline) -> [BarChart] {
        [
            BarChart(
                id: "rows", title: "Rows changed",
                series: [
                    Series(name: "inserted", kind: "inserted") { Double($0.inserted) },
                    Series(name: "updated", kind: "updated") { Double($0.updated) },
                    Series(name: "deleted", kind: "deleted") { Double($0.deleted) },
                ], text: count, timeline: timeline),
            BarChart(
                id: "outcomes", title: "Outcomes of runs",
                series: [
                    Series(name: "committed", kind: "committed") { Double($0.committed) },
                    Series(name: "unchanged", kind: "unchanged") { Double($0.unchanged) },
                    Series(name: "discarded or blocked", kind: "discarded") { Double($0.failed) },
                    Series(name: "cancelled", kind: "cancelled") { Double($0.cancelled) },
                ], text: count, timeline: timeline),
            BarChart(
                id: "bytes", title: "Bytes received",
                series: [Series(name: "bytes", kind: "bytes") { Double($0.bytes) }],
                text: { Figures.bytes(Int($0)).replacing(".0 ", with: " ") }, timeline: timeline),
            BarChart(
                id: "seconds", title: "Longest run",
                series: [Series(name: "duration", kind: "seconds") { $0.seconds }],
                text: { $0 == 0 ? "0 s" : Figures.seconds($0) }, timeline: timeline),
        ]
    }

    private static let count: @Sendable (Double) -> String = { value in
        switch value {
        case ..<10_000: String(Int(value.rounded()))
        case ..<10_000_000: String(Int((value / 1_000).rounded())) + "k"
        default: String(Int((value / 1_000_000).rounded())) + "M"
        }
    }
}
