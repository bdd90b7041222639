package import FeedDeclarations
import FeedFetching
import Foundation

extension PagingDeclaration {
    /// The request for the first page.
    package func firstPage(of request: RequestDeclaration) -> RequestDeclaration { counted(1, request) }

    /// The request for the page after the one that has been read; nil where that was the last.
    ///
    /// - Parameters:
    ///   - page: the number of the one that has been read, from 1.
    ///   - url: where it was.
    ///   - records: how many it held.
    ///   - address: what stood where the next page's address stands.
    /// - Throws: ``FetchError`` where there are too many pages, or the address leads elsewhere.
    func page(
        after page: Int, of request: RequestDeclaration, at url: String, records: Int, address: String?
    ) throws -> RequestDeclaration? {
        var following = counted(page + 1, request)
        switch next {
        case .counter:
            if records == 0 { return nil }
        case .path(_, let written):
            guard let address, !address.isEmpty else { return nil }
            let target: URL
            do {
                target = try Self.page(address, from: url)
            } catch {
                throw FetchError(
                    .redirect, "\(request.url): what '\(written)' says after page \(page) cannot be asked: \(error)")
            }
            guard let base = URL(string: url), target.scheme?.lowercased() == base.scheme?.lowercased(),
                target.host?.lowercased() == base.host?.lowercased(), target.port == base.port
            else {
                throw FetchError(
                    .redirect,
                    "\(request.url): '\(written)' leads from page \(page) to another origin, which is not followed")
            }
            following.url = InterpolatedText(value: target.absoluteString, template: request.url.template)
            // What the address says already is not said twice.
            let said = Set(URLComponents(url: target, resolvingAgainstBaseURL: true)?.queryItems?.map(\.name) ?? [])
            following.parameters = following.parameters.filter { !said.contains($0.key) }
            // The first page may have been redirected to another origin, and nothing secret followed it there.
            if try following.origin() != request.origin() { try following.dropSecrets() }
        }
        guard page < maxPages else {
            throw FetchError(
                .tooLarge, "\(request.url): there are more than \(maxPages) pages; raise max_pages if that is meant")
        }
        return following
    }

    /// Where the next page is, the last one having been at `url`. The pages of a file are files.
    private static func page(_ address: String, from url: String) throws(WebAddress.Problem) -> URL {
        guard FileAddress.isFile(url) else { return try WebAddress(address, relativeTo: URL(string: url)).url }
        try WebAddress.check(address)
        let file = URL(string: address, relativeTo: URL(string: url))?.absoluteURL.absoluteString ?? address
        return URL(fileURLWithPath: try FileAddress(file).path)
    }

    private func counted(_ page: Int, _ request: RequestDeclaration) -> RequestDeclaration {
        guard case .counter(let parameter, let start, let step) = next else { return request }
        var request = request
        let (distance, isTooFar) = (page - 1).multipliedReportingOverflow(by: step)
        let (number, isTooLarge) = start.addingReportingOverflow(distance)
        // Nobody counts that far: a server that is asked for the largest number there is has no such page.
        request.parameters[parameter] = InterpolatedText(String(isTooFar || isTooLarge ? .max : number))
        return request
    }
}
