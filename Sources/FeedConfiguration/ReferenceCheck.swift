import FeedModel

/// Reports requests that refer to what no earlier request of their stack gives, or that have no place for what they send.
struct ReferenceCheck {
    let problems: ProblemCollector

    /// Checks that the body of a request has a place for the token of the next page.
    func checkContinuation(of request: RequestDeclaration, _ table: DeclarationReader) {
        guard case .token(_, _, let parameter)? = request.paging?.next else { return }
        var request = request
        if var body = request.body {
            body.text = InterpolatedText(body.text.probe)
            request.body = body
        }
        do {
            _ = try parameter.sending("x", in: request)
        } catch {
            table.report("page", "\(error)")
        }
    }

    /// Checks that requests use only what an earlier request captures, or has staged.
    func check(_ requests: [RequestDeclaration], _ tables: [DeclarationReader]) {
        var known: Set<String> = []
        for (request, table) in zip(requests, tables) {
            for case .capture(let name) in request.references {
                guard !known.contains(name) else { continue }
                let nearest = nearestName(to: name, among: known)
                problems.report(
                    table.path,
                    "no earlier request of the source captures '\(name)'"
                        + (nearest.map { "; did you mean '\($0)'?" } ?? ""))
            }
            known.formUnion(request.captures.map(\.name))
            let rowReferences = request.sentReferences.filter { $0.column != nil }
            if request.forEach == nil, let name = request.mappedReferences.compactMap(\.column).first {
                problems.report(table.path, "{ row = \"\(name)\" } requires 'for_each'")
            }
            if let reference = rowReferences.first, request.forEach == nil {
                problems.report(table.path, "${\(reference)} requires 'for_each'")
            }
            guard let forEach = request.forEach else { continue }
            if rowReferences.isEmpty {
                table.report("for_each", "the request would be the same for each row; use a column as ${row:COLUMN}")
            }
            if request.key == requests.first?.key, forEach.query.lowercased().contains("staged.") {
                table.report(
                    "for_each",
                    "no earlier request of the source could have staged a row; name the store's rows as main.TABLE")
            }
            if !request.captures.isEmpty {
                table.report("capture", "a request with 'for_each' has several responses; capture from another request")
            }
        }
    }
}
