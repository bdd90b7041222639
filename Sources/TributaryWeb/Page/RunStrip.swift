import FeedModel
import Foundation
import TributaryEngine

/// The last runs of a source as an image in a line of the list: a cell for each run or row of polls, those that
/// came to the same as one bar. What failed is tall, what found nothing is low, so that nobody needs the colours.
struct RunStrip {
    static let runs = 30
    private static let step = 5.0
    private static let height = 16.0

    let svg: String

    /// - Parameter runs: the runs, the latest last.
    init(_ runs: [RecentRuns.Run]) {
        var body = ""
        var counts: [RunOutcome: Int] = [:]
        var place = Double(Self.runs - runs.count) * Self.step
        for fold in RunFold.folds(runs, by: \.outcome) {
            guard let first = fold.first, let last = fold.last else { continue }
            let polls = fold.reduce(0) { $0 + $1.polls }
            counts[first.outcome, default: 0] += polls
            let height = Self.height(first.outcome)
            let width = Double(fold.count) * Self.step - 1
            let changed = fold.reduce(0) { $0 + $1.changedRows }
            let words =
                (polls == 1 ? first.outcome.rawValue : "\(polls) \(first.outcome.rawValue)")
                + (changed > 0 ? ", \(Figures.count(changed, "row"))" : "")
            let times =
                TimeView(first.startedAt).text + (polls == 1 ? "" : " to " + TimeView(last.finishedAt).text)
            body += SVG.rect(
                first.outcome.rawValue, x: place, y: Self.height - height, width: width, height: height,
                "<title>\(words): \(times)</title>")
            place += Double(fold.count) * Self.step
        }
        let parts = counts.sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }.map {
            "\($0.value) \($0.key.rawValue)"
        }
        let all = Figures.count(counts.values.reduce(0, +), "run")
        let name = runs.isEmpty ? "No runs" : "Last \(all): " + parts.joined(separator: ", ")
        svg = """
            <svg class="strip" viewBox="0 0 \(Int(Double(Self.runs) * Self.step)) \(Int(Self.height))" role="img" \
            aria-label="\(name)">\(body)</svg>
            """
    }

    private static func height(_ outcome: RunOutcome) -> Double {
        switch outcome {
        case .discarded, .blocked: height
        case .committed: 11
        case .cancelled: 8
        default: 5
        }
    }
}

/// Neighbours that are alike.
enum RunFold {
    /// Returns the elements in order, those with the same property together.
    static func folds<Element, Property: Equatable>(
        _ elements: [Element], by property: (Element) -> Property
    ) -> [[Element]] {
        elements.reduce(into: []) { folds, element in
            if let last = folds.last?.last, property(last) == property(element) {
                folds[folds.count - 1].append(element)
            } else {
                folds.append([element])
            }
        }
    }
}
