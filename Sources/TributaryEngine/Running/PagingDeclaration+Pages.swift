package import FeedDeclarations
import FeedFetching
import Foundation

extension PagingDeclaration {
    /// Returns the request for the first page.
    package func firstPage(of request: RequestDeclaration) -> RequestDeclaration { counted(1, request) }

    /// Returns the request for the page after `page`; nil if that was the last.
    ///
    /// - Parameters:
    ///   - page: the number of the page just read, from 1.
    ///   - url: the address of that page.
    ///   - records: the number of its records.
    ///   - address: the value found where the next page's address stands.
    /// - Throws: ``FetchError`` if there are too many pages, or the address is invalid or leads to another origin.
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
            guard let base = URL(string: url), target.origin == base.origin else {
                throw FetchError(
                    .redirect,
                    "\(request.url): '\(written)' leads from page \(page) to another origin, which is not followed")
            }
            following.url = InterpolatedText(value: target.absoluteString, template: request.url.template)
            // Parameters that the address already has are not added again.
            let said = Set(URLComponents(url: target, resolvingAgainstBaseURL: true)?.queryItems?.map(\.name) ?? [])
            following.parameters = following.parameters.filter { !said.contains($0.key) }
            // The first page may have been redirected to another origin. No secrets went there, and none go there now.
            if try following.origin() != request.origin() { try following.dropSecrets() }
        }
        guard page < maxPages else {
            throw FetchError(
                .tooLarge, "\(request.url): there are more than \(maxPages) pages; raise max_pages if that is meant")
        }
        return following
    }

    /// Returns the next page's address, relative to `url`, the last page's. The pages of a file are files.
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
        // After an overflow, the largest number is sent: no server has such a page.
        request.parameters[parameter] = InterpolatedText(String(isTooFar || isTooLarge ? .max : number))
        return request
    }
}
