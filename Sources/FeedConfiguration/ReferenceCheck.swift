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
                problems.report(
                    table.path, "no earlier request of the source captures '\(name)'",
                    help: didYouMean(name, among: known))
            }
            known.formUnion(request.captures.map(\.name))
            let rowReferences = request.sentReferences.filter { $0.column != nil }
            let bounds = request.sentReferences.filter { $0.bound != nil }
            let query = request.forEach?.query
            if query == nil, let name = request.mappedReferences.compactMap(\.column).first {
                problems.report(table.path, "{ row = \"\(name)\" } requires 'for_each'")
            }
            if let reference = rowReferences.first, query == nil {
                problems.report(table.path, "${\(reference)} requires 'for_each'")
            }
            if let reference = bounds.first(where: { !SliceDeclaration.names.contains($0.bound ?? "") }) {
                problems.report(table.path, "${\(reference)} is unknown", help: "write ${slice:from} or ${slice:to}")
            }
            if let reference = bounds.first, request.forEach.map({ $0.query != nil }) ?? true {
                problems.report(table.path, "${\(reference)} requires 'slices'")
            }
            guard let forEach = request.forEach else { continue }
            if query == nil {
                if bounds.isEmpty {
                    table.report(
                        forEach.key,
                        "the request would be the same for each span",
                        help: "send its bounds as ${slice:from} and ${slice:to}")
                }
                if request.mirrors {
                    table.report(
                        forEach.key, "a mirror would delete the rows of all other spans",
                        help: "set sync = \"upsert\"")
                }
            } else if rowReferences.isEmpty {
                table.report(
                    forEach.key, "the request would be the same for each row", help: "use a column as ${row:COLUMN}")
            }
            if request.key == requests.first?.key, query?.lowercased().contains("staged.") == true {
                table.report(
                    forEach.key,
                    "no earlier request of the source could have staged a row",
                    help: "name the store's rows as main.TABLE")
            }
        }
    }
}
