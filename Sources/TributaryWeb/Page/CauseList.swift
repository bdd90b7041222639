/// What the errors of several sources have in common, the most frequent first.
struct CauseList: Sendable {
    /// The most causes that are shown.
    private static let most = 10
    private static let mostHosts = 3

    /// The numbers of sources by the texts of their causes.
    private var counts: [String: Int] = [:]
    /// The first hosts of each cause, and one more where there are more.
    private var hosts: [String: [String]] = [:]

    init(_ causes: [ProblemCause?]) {
        for cause in causes.compactMap(\.self) {
            counts[cause.text, default: 0] += 1
            let known = hosts[cause.text] ?? []
            if let host = cause.host, known.count <= Self.mostHosts, !known.contains(host) {
                hosts[cause.text] = known + [host]
            }
        }
    }

    /// The number of sources with a cause.
    func count(of cause: ProblemCause?) -> Int { cause.flatMap { counts[$0.text] } ?? 0 }

    func fragment(_ query: SourceQuery, _ templates: Templates) -> Fragment {
        let shown = counts.filter { $0.value > 1 }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let causes: [View] = shown.prefix(Self.most).map { text, count in
            let hosts = hosts[text] ?? []
            let named = hosts.prefix(Self.mostHosts) + (hosts.count > Self.mostHosts ? ["…"] : [])
            return [
                "count": count, "text": text, "hosts": hosts.isEmpty ? nil : named.joined(separator: ", "),
                "address": query.with { $0.cause = query.cause == text ? nil : text }.address,
                "isChosen": query.cause == text,
            ]
        }
        let view: View = ["causes": causes, "isEmpty": causes.isEmpty]
        return templates.fragment("causes", view)
    }
}
