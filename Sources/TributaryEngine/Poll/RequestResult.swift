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

extension RequestState {
    /// Returns the state after a 304, which may have brought new metadata for the same rows (RFC 9111, section 4.3.4).
    func updated(by validators: Validators) -> RequestState {
        var state = self
        if let etag = validators.etag { state.validators.etag = etag }
        if let modified = validators.lastModified { state.validators.lastModified = modified }
        return state
    }

    /// Counts how many times in a row permanent redirects have led to the same address.
    ///
    /// - Parameters:
    ///   - movedTo: the address they led to this time; nil if there was no redirect.
    ///   - former: the address that was asked instead of the declared one.
    mutating func note(movedTo: String?, former: String?) {
        if former != nil, movedTo == nil || movedTo == former { return }
        movedTimes = movedTo == nil ? 0 : movedTo == self.movedTo ? movedTimes + 1 : 1
        self.movedTo = movedTo
    }
}
