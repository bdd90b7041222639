package import FeedConfiguration
import FeedFetching
import FeedModel
import Foundation

extension PagingDeclaration {
    /// Returns the request for the first page.
    package func firstPage(of request: RequestDeclaration) -> RequestDeclaration { counted(1, request) }

    fileprivate func counted(_ page: Int, _ request: RequestDeclaration) -> RequestDeclaration {
        guard case .counter(let parameter, let start, let step) = next else { return request }
        var request = request
        let (distance, isTooFar) = (page - 1).multipliedReportingOverflow(by: step)
        let (number, isTooLarge) = start.addingReportingOverflow(distance)
        // After an overflow, the largest number is sent, for which no page exists.
        request.parameters[parameter] = InterpolatedText(String(isTooFar || isTooLarge ? .max : number))
        return request
    }
}

/// The pages of one request, one after another.
struct PageSequence {
    private let paging: PagingDeclaration
    /// The number of the page that was read last, from 1.
    private(set) var page: Int
    /// The fingerprints of the tokens and addresses that were sent: they may be long.
    private var tokens: Set<String> = []

    init(_ paging: PagingDeclaration, page: Int = 1) {
        self.paging = paging
        self.page = page
    }

    /// Returns the request for the next page; nil if the page that was just read is the last.
    ///
    /// - Parameters:
    ///   - request: the request for that page.
    ///   - response: that page's response.
    ///   - records: the number of its records.
    ///   - found: the value in its body at the path of the next page's address or token.
    /// - Throws: ``FetchError`` if there are too many pages, a token comes again, or an address is invalid or of another
    ///   origin.
    mutating func next(
        after request: RequestDeclaration, _ response: FeedResponse, records: Int, found: String?
    ) throws -> RequestDeclaration? {
        let following: RequestDeclaration
        switch paging.next {
        case .counter:
            if records == 0 { return nil }
            following = paging.counted(page + 1, request)
        case .path(_, let written):
            guard let found = Self.place(found) else { return nil }
            following = try self.request(request, at: found, from: response.url, "'\(written)'")
        case .link:
            guard let target = LinkHeader.next(in: response) else {
                guard let header = LinkHeader.unreadable(in: response) else { return nil }
                throw FetchError(
                    .redirect,
                    "\(request.url): the Link header of page \(page) cannot be read (RFC 8288), so a page may be missing: "
                        + "'\(header.shortened(to: 100))'")
            }
            following = try self.request(request, at: target, from: response.url, "the Link header with rel=\"next\"")
        case .token(_, let written, let parameter):
            guard let found = Self.place(found) else { return nil }
            try noteFirst(found, "'\(written)' of page \(page) is a token that an earlier page had", request)
            do {
                following = try parameter.sending(found, in: request)
            } catch {
                throw FetchError(.redirect, "\(request.url): \(error)")
            }
        }
        guard page < paging.maxPages else {
            throw FetchError(
                .tooLarge,
                "\(request.url): there are more than \(paging.maxPages) pages; raise max_pages if that is intended")
        }
        page += 1
        return following
    }

    /// Returns the address or token that a page has for the next one, without the white space around it; nil without one,
    /// and for JSON's `false`.
    private static func place(_ found: String?) -> String? {
        let found = found?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
        return found.isEmpty || found == "false" ? nil : found
    }

    /// - Parameter problem: the beginning of the error.
    /// - Throws: ``FetchError`` if a token or an address was used before.
    private mutating func noteFirst(_ place: String, _ problem: String, _ request: RequestDeclaration) throws {
        guard tokens.insert(Fingerprint.hexadecimal(place)).inserted else {
            throw FetchError(
                .redirect, "\(request.url): \(problem), '\(place.shortened(to: 100))': the pages would never end")
        }
    }

    /// Returns the request for a page at an address that the last one names.
    ///
    /// - Parameter namer: the part of the page that names it, for messages.
    private mutating func request(
        _ request: RequestDeclaration, at address: String, from url: String, _ namer: String
    ) throws -> RequestDeclaration {
        let target: URL
        do {
            target = try Self.url(address, from: url)
        } catch {
            throw FetchError(
                .redirect, "\(request.url): page \(page): the address of \(namer) cannot be used: \(error)")
        }
        guard let base = URL(string: url) else {
            throw FetchError(.redirect, "\(request.url): page \(page): its own address cannot be used")
        }
        guard target.origin == base.origin else {
            throw FetchError(
                .redirect,
                "\(request.url): page \(page): \(namer) names \(target.origin), another origin than \(base.origin)")
        }
        try noteFirst(target.absoluteString, "\(namer) leads to a page that was read before", request)
        var following = request
        following.url = InterpolatedText(value: target.absoluteString, template: request.url.template)
        // Parameters that the address already has are not added again.
        let said = Set(URLComponents(url: target, resolvingAgainstBaseURL: true)?.queryItems?.map(\.name) ?? [])
        following.parameters = following.parameters.filter { !said.contains($0.key) }
        // If the first page was redirected to another origin, no secrets may go there.
        if try following.origin() != request.origin() { try following.dropSecrets() }
        return following
    }

    /// Returns the next page's address, relative to `url`, the last page's. The pages of a file are files.
    private static func url(_ address: String, from url: String) throws(Finding) -> URL {
        guard FileAddress.isFile(url) else { return try WebAddress(address, relativeTo: URL(string: url)).url }
        try WebAddress.check(address)
        let file = URL(string: address, relativeTo: URL(string: url))?.absoluteURL.absoluteString ?? address
        return URL(fileURLWithPath: try FileAddress(file).path)
    }
}
