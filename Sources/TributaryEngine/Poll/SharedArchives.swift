import FeedDeclarations
import FeedFetching
import FeedModel

/// The archives that several requests of a stack read, each its own documents. Such an archive is requested once in a run,
/// so that the rows of all these requests are from one version of it.
struct SharedArchives: Sendable {
    /// A 304 to the request for an archive.
    struct Unchanged: Sendable {
        /// The validators of the request.
        var conditions: Validators
        /// The validators of the answer.
        var validators: Validators
        /// The address of permanent redirects; nil without.
        var movedTo: String?
    }

    /// Digests of what is asked (``ValidityDigest/question``), by the requests' positions.
    private var questions: [Int: String] = [:]
    private var unchanged: [String: Unchanged] = [:]

    init(_ requests: [RequestDeclaration]) {
        guard requests.count > 1 else { return }
        var positions: [String: [Int]] = [:]
        for (index, request) in requests.enumerated() where request.mayShareArchive {
            positions[request.digest.question, default: []].append(index)
        }
        for (question, indexes) in positions where indexes.count > 1 {
            for index in indexes { questions[index] = question }
        }
    }

    /// Returns the key of the archive of a request; nil if no other request reads it.
    func key(of index: Int) -> String? { questions[index] }

    /// Returns the 304 that an equal request received in this run; nil without one.
    func unchanged(_ index: Int, _ conditions: Validators) -> Unchanged? {
        guard let question = questions[index], let answer = unchanged[question], answer.conditions == conditions else {
            return nil
        }
        return answer
    }

    /// Notes a 304.
    mutating func note(_ answer: Unchanged, _ index: Int) {
        guard let question = questions[index] else { return }
        unchanged[question] = answer
    }
}

extension RequestDeclaration {
    fileprivate var mayShareArchive: Bool {
        documents != nil && forEach == nil && paging == nil && references.allSatisfy(\.isTime)
    }
}
