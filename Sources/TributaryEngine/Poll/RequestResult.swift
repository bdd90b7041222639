import FeedDeclarations
import FeedModel
import FeedStaging
import FeedStores

/// The result of one request so far, while its run goes on.
struct RequestResult: Sendable {
    var report: RequestReport
    /// The request's state, which is stored if the run is good.
    var state: RequestState?

    init(key: String) { report = RequestReport(key: key, outcome: .skipped) }
}

/// The items of a `for_each` that a run leaves out.
struct LeftOutItems: Sendable {
    /// The most that are named; the rest is counted.
    private static let mostNamed = 10
    private static let longestName = 300

    /// The most that may be left out; nil where none may.
    private let most: Int?
    private(set) var count = 0
    private var names: [String] = []

    init(most: Int?) { self.most = most }

    /// - Parameter name: names the item and the reason.
    /// - Returns: false where no more may be left out.
    mutating func add(_ name: String) -> Bool {
        guard count < most ?? 0 else { return false }
        count += 1
        if names.count < Self.mostNamed { names.append(name.shortened(to: Self.longestName)) }
        return true
    }

    /// The line of the run's report about a request's items.
    func note(of request: String) -> String {
        let items = count == 1 ? "1 item was" : "\(count) items were"
        let more = count > names.count ? "; and \(count - names.count) more" : ""
        return "request '\(request)': \(items) left out (on_error = \"skip\"): \(names.joined(separator: "; "))\(more)"
    }
}
