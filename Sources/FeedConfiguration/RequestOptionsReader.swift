import FeedDeclarations
import XMLStream

/// Reads the keys by which a request depends on others of its stack, or is repeated: `capture`, `page` and `for_each`.
struct RequestOptionsReader {
    let table: DeclarationReader

    func captures() -> [CaptureDeclaration] {
        (table.texts("capture") ?? [:]).sorted { $0.key < $1.key }.compactMap { name, path in
            self.path(path.value, "capture").map { CaptureDeclaration(name: name, path: $0, written: path.value) }
        }
    }

    func paging() -> PagingDeclaration? {
        guard let page = table.table("page") else { return nil }
        let next = page.string("next")
        let counter = page.string("counter")
        let start = page.nonNegativeInteger("start", upTo: ConfigurationLimits.counterStart) ?? 1
        let step = page.positiveInteger("step", upTo: ConfigurationLimits.counterStep) ?? 1
        let most =
            page.positiveInteger("max_pages", upTo: ConfigurationLimits.maxPages) ?? PagingDeclaration.defaultMaxPages
        page.finish()
        switch (next, counter) {
        case (let next?, nil):
            for key in ["start", "step"] where page.has(key) { page.report(key, "has a meaning only beside 'counter'") }
            return path(next, "page").map { PagingDeclaration(next: .path($0, written: next), maxPages: most) }
        case (nil, let counter?):
            return PagingDeclaration(next: .counter(parameter: counter, start: start, step: step), maxPages: most)
        default:
            page.problems.report(
                page.path,
                "give either 'next', the path of the next page's address, or 'counter', the parameter that counts")
            return nil
        }
    }

    func forEach() -> ForEachDeclaration? {
        let query = table.string("for_each")
        let concurrency =
            table.positiveInteger("concurrency", upTo: ConfigurationLimits.concurrency)
            ?? ForEachDeclaration.defaultConcurrency
        let most =
            table.positiveInteger("max_requests", upTo: ConfigurationLimits.maxRequests)
            ?? ForEachDeclaration.defaultMaxRequests
        guard let query else {
            for key in ["concurrency", "max_requests"] where table.has(key) {
                table.report(key, "has a meaning only beside 'for_each'")
            }
            return nil
        }
        return ForEachDeclaration(query: query, concurrency: concurrency, maxRequests: most)
    }

    private func path(_ written: String, _ key: String) -> XMLPath? {
        do {
            let path = try XMLPathParser.parse(written)
            guard path.isAbsolute, !path.steps.isEmpty else {
                table.report(key, "'\(written)' must begin at the root, as in \"/login/token\"")
                return nil
            }
            return path
        } catch {
            table.report(key, error.description)
            return nil
        }
    }
}
