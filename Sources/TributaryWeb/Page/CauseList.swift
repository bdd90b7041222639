/// What the errors of several sources have in common, the most frequent first.
struct CauseList: Sendable {
    /// The most causes that are shown.
    private static let most = 10
    private static let mostHosts = 3

    fileprivate struct Group: Sendable {
        var count = 0
        var hosts: [String] = []
        var hasMore = false
    }

    private var groups: [String: Group] = [:]

    init(_ causes: [ProblemCause?]) {
        for cause in causes {
            guard let cause else { continue }
            groups[cause.text, default: Group()].add(cause.host, most: Self.mostHosts)
        }
    }

    /// The number of sources with a cause.
    func count(of cause: ProblemCause?) -> Int { cause.flatMap { groups[$0.text]?.count } ?? 0 }

    func fragment(_ query: SourceQuery, _ templates: Templates) -> Fragment {
        let shown = groups.filter { $0.value.count > 1 }.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
        let causes: [View] = shown.prefix(Self.most).map { text, group in
            let hosts = group.hosts.joined(separator: ", ") + (group.hasMore ? ", …" : "")
            return [
                "count": group.count, "text": text, "hosts": group.hosts.isEmpty ? nil : hosts,
                "address": query.with { $0.cause = query.cause == text ? nil : text }.address,
                "isChosen": query.cause == text,
            ]
        }
        let view: View = ["causes": causes, "isEmpty": causes.isEmpty]
        return Fragment("causes", templates.render("causes", view))
    }
}

extension CauseList.Group {
    fileprivate mutating func add(_ host: String?, most: Int) {
        count += 1
        guard let host, !hosts.contains(host) else { return }
        if hosts.count < most { hosts.append(host) } else { hasMore = true }
    }
}
