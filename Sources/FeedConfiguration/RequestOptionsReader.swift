import FeedDeclarations
import XMLStream

/// Reads the keys by which a request depends on others of its stack, or is repeated: `capture`, `page` and `for_each`.
struct RequestOptionsReader {
    let table: DeclarationReader
    private let keys = RequestKeys.all

    init(table: DeclarationReader) { self.table = table }

    func captures() -> [CaptureDeclaration] {
        (table[keys.capture] ?? [:]).sorted { $0.key < $1.key }.compactMap { name, path in
            self.path(path.value, "capture").map { CaptureDeclaration(name: name, path: $0, written: path.value) }
        }
    }

    func paging() -> PagingDeclaration? {
        guard let page = table.table(keys.page) else { return nil }
        let keys = PageKeys.all
        let next = page[keys.next]
        let counter = page[keys.counter]
        let start = page[keys.start] ?? keys.start.standard
        let step = page[keys.step] ?? keys.step.standard
        let most = page[keys.maxPages] ?? keys.maxPages.standard
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
        let query = table[keys.forEach]
        let concurrency = table[keys.concurrency] ?? keys.concurrency.standard
        let most = table[keys.maxRequests] ?? keys.maxRequests.standard
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
