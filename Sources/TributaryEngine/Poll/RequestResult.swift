import FeedConfiguration
import FeedFetching
import FeedModel
import FeedStaging
import FeedStores
import XMLStream

/// The result of one request during its run.
struct RequestResult: Sendable {
    var report: RequestReport
    /// The request's state, which a successful run stores.
    var state: RequestState?
    /// True if the request's documents have been read and hold no record.
    var isEmpty = false
    /// The files that were read, for `after_commit`.
    var files: SourceFiles?
    var documents = DocumentNotes()
    /// The omitted items of `for_each`; nil without any.
    var leftOut: LeftOutItems?

    init(key: String) { report = RequestReport(key: key, outcome: .skipped) }
}

/// What a run has noted about the documents of a request.
struct DocumentNotes: Sendable {
    /// Remarks, each once.
    var remarks: [String] = []
    /// The number of repairs of each kind.
    var repairs: XMLRepair.Counts = [:]
    /// The shape of mapped documents.
    var shape: DocumentShape?
    /// The elements of pages and items.
    var responses = ResponseElements()
    /// The reading of a folder.
    var listing: ListingReading?
    /// The pages, if one names the next one in its body.
    var pages: ReadPages?

    /// True if unchanged documents were left out.
    var areSome: Bool { listing?.positions != nil }
}

/// The elements of several responses to one request: pages, or items of `for_each`. One without a record may be empty, or
/// an error that came with the status 200.
struct ResponseElements: Sendable {
    /// The limits on the compared kinds of responses with and without records, and on the remembered paths. A feed with more
    /// kinds or paths has data in its names, and is not judged by them.
    private static let (most, mostWithout, mostPaths) = (1_000, 100, 10_000)

    /// The hashes of the paths of the responses that have been looked at, with and without records.
    private var seen: (withRecords: Set<Int>, without: Set<Int>) = ([], [])
    /// The paths of the responses with records.
    private var usual: Set<String> = []
    private var withoutRecord: [(address: String, ends: Set<String>)] = []

    /// - Parameters:
    ///   - hash: tells responses with other paths apart.
    ///   - paths: those of a response's elements, and those of them that hold no element. The outer ones are often the same
    ///     in all responses, as the root of JSON is.
    mutating func note(
        _ hash: Int, _ paths: @autoclosure () -> (all: Set<String>, ends: Set<String>), hasRecords: Bool,
        address: @autoclosure () -> String
    ) {
        if hasRecords {
            guard seen.withRecords.count < Self.most, seen.withRecords.insert(hash).inserted else { return }
            if usual.count < Self.mostPaths { usual.formUnion(paths().all) }
        } else {
            guard seen.without.count < Self.mostWithout, seen.without.insert(hash).inserted else { return }
            let ends = paths().ends
            if !ends.isEmpty { withoutRecord.append((address(), ends)) }
        }
    }

    /// The error for a response that has no record, and no element that one with records has; nil without one.
    var mismatch: StackError? {
        let isKnown = seen.withRecords.count < Self.most && usual.count < Self.mostPaths
        guard isKnown, !usual.isEmpty, let found = withoutRecord.first(where: { $0.ends.isDisjoint(with: usual) }),
            let path = found.ends.min()
        else { return nil }
        return StackError(
            "\(found.address): the response has no record, and no element of the responses that have records; it has "
                + "\(path); set allow_empty = true if such a response is valid")
    }
}

/// The pages of a request that a run has read.
struct ReadPages: Sendable {
    var count: Int
    /// True if the last page has no element or attribute at the path of the next page's token or address. An empty one
    /// also marks the last page.
    var endsWithoutMark: Bool
}

/// The omitted items of a `for_each` in a run.
struct LeftOutItems: Sendable {
    /// The most named items; the others are counted.
    private static let mostNamed = 10
    private static let longestName = 300

    /// The most omitted items; nil for none.
    private let most: Int?
    private(set) var count = 0
    private var names: [String] = []

    init(most: Int?) { self.most = most }

    /// - Parameter name: names the item and the reason.
    /// - Returns: false if the limit is exceeded.
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
    /// Returns the state after a 304, which may have brought new metadata for the same rows (RFC 9111, section 4.3.4). A 304
    /// with another entity tag, or another time where that is the only validator, is not about the version of the rows: the
    /// validators stay, so that a server that was wrong once sends the present version the next time.
    func updated(by validators: Validators) -> RequestState {
        var state = self
        if let etag = validators.etag {
            guard Self.isSame(etag, state.validators.etag ?? etag) else { return self }
            state.validators.etag = etag
        }
        // With an entity tag, the server has compared that, and not the time (RFC 9110, section 13.2.2).
        if let modified = validators.lastModified,
            state.validators.etag != nil || state.validators.lastModified == nil
        {
            state.validators.lastModified = modified
        }
        return state
    }

    /// Compares weakly (RFC 9110, section 8.8.3.2).
    private static func isSame(_ etag: String, _ other: String) -> Bool {
        func opaque(_ etag: String) -> Substring { etag.hasPrefix("W/") ? etag.dropFirst(2) : etag[...] }
        return opaque(etag) == opaque(other)
    }

    /// Counts the consecutive permanent redirects to the same address.
    ///
    /// - Parameters:
    ///   - movedTo: the target of the redirects; nil without one.
    ///   - former: the address of the request, if it is not the declared one.
    mutating func note(movedTo: String?, former: String?) {
        if former != nil, movedTo == nil || movedTo == former { return }
        movedTimes = movedTo == nil ? 0 : movedTo == self.movedTo ? movedTimes + 1 : 1
        self.movedTo = movedTo
    }
}
