import FeedConfiguration
import FeedFetching
import FeedModel

/// The archives that several requests of a stack read, each its own documents. Such an archive is requested once in a run,
/// so that the rows of all these requests are from one version of it.
struct SharedArchives: Sendable {
    /// A 304 to a request, or a response from which it follows.
    struct Unchanged: Sendable {
        /// The validators of the request.
        var conditions: Validators
        /// The validators of the response.
        var validators: Validators
        /// The address of permanent redirects; nil without redirects.
        var movedTo: String?
    }

    /// Digests of what is asked (``ValidityDigest/question``), by the requests' positions.
    private var questions: [Int: String] = [:]
    private var unchanged: [String: Unchanged] = [:]

    init(_ requests: [RequestDeclaration]) {
        guard requests.count > 1 else { return }
        var positions: [String: [Int]] = [:]
        for (index, request) in requests.enumerated() where request.mayShareArchive {
            positions[request.archiveQuestion, default: []].append(index)
        }
        for (question, indexes) in positions where indexes.count > 1 {
            for index in indexes { questions[index] = question }
        }
    }

    /// Returns the key of the archive of a request; nil if no other request reads it.
    func key(of index: Int) -> String? { questions[index] }

    /// Returns the 304 that a request with these validators would receive, as a response to an equal request in this run
    /// shows; nil if none shows it.
    func unchanged(_ index: Int, _ conditions: Validators) -> Unchanged? {
        guard !conditions.isEmpty, let question = questions[index], let answer = unchanged[question],
            answer.conditions == conditions
        else { return nil }
        return answer
    }

    mutating func note(_ answer: Unchanged, _ index: Int) {
        guard let question = questions[index] else { return }
        unchanged[question] = answer
    }

    /// Notes a received archive: a request with its validators is unchanged.
    mutating func note(received exchange: Exchange, _ index: Int) {
        let validators = exchange.response.validators
        note(Unchanged(conditions: validators, validators: validators, movedTo: exchange.movedTo), index)
    }
}

extension RequestDeclaration {
    /// A text that is equal for requests of the same archive. That of a folder has only the files that the request selects.
    fileprivate var archiveQuestion: String {
        guard let target = try? RequestAddress(url.value), target.namesFolder else { return digest.question }
        return "\(digest.question) \(newerThan?.description ?? "") \(documents?.text ?? "")"
    }

    fileprivate var mayShareArchive: Bool {
        documents != nil && afterCommit == nil && forEach == nil && paging == nil && references.allSatisfy(\.isTime)
    }
}
