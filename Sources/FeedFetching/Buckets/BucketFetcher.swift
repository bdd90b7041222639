import AsyncHTTPClient
package import FeedConfiguration
package import FeedModel
import Foundation

/// Fetches `s3:` URLs: objects of Amazon S3 and compatible stores. An object is an HTTP response with its own validators.
/// The objects of a folder are one archive, whose validator is a digest of their names and ETags.
package struct BucketFetcher: Fetcher {
    let http: HTTPFetcher

    package func fetch(
        _ request: PreparedRequest, _ context: ExchangeContext, validators: Validators, movedTo: String?
    ) async throws -> Exchange {
        guard case .bucket(let address) = request.target else {
            throw FetchError(.address, "\(request.url) cannot be used: it is not an s3: URL")
        }
        let store = BucketExchange(http: http, request: request, address: address, context: context)
        if let pattern = address.pattern ?? (address.isFolder ? request.documents : nil) {
            return try await folder(request, pattern, store, validators)
        }
        guard !address.isFolder else {
            throw FetchError(
                .address, "\(request.url) names a folder; for the objects in it, declare documents = \"*.xml\"")
        }
        return try await object(request, store, validators)
    }

    private func object(
        _ request: PreparedRequest, _ store: BucketExchange, _ known: Validators
    ) async throws -> Exchange {
        let stored = known.etag
        var known = known
        // An object that was deleted or moved may be followed by another one with the same bytes.
        if request.afterCommit != nil { known.etag = nil }
        let key = store.address.key
        var exchange = try await store.send("GET", key, validators: known)
        guard let action = request.afterCommit else { return exchange }
        switch exchange.response.status {
        case 404:
            let words = try await store.words(exchange)
            guard words["Code"] == "NoSuchKey" else { throw store.refusal(exchange, words) }
            return .gone(request, at: request.address.absoluteString, http.now())
        case 200, 304:
            let response = exchange.response
            guard let etag = response.validators.etag ?? stored else { return exchange }
            let listed = BucketListing.Object(
                path: Array(key.utf8.dropFirst(store.address.folder.utf8.count)), size: 0,
                modified: Int(
                    (response[header: "Last-Modified"].flatMap(HTTPDate.parse) ?? http.now()).timeIntervalSince1970),
                etag: etag, tellsLater: response[header: "Last-Modified"] != nil)
            exchange.files = store.files([listed], action)
            return exchange
        default: return exchange
        }
    }

    private func folder(
        _ request: PreparedRequest, _ pattern: MemberPattern, _ store: BucketExchange, _ known: Validators
    ) async throws -> Exchange {
        let folder = store.address.key
        var listing = BucketListing(
            folder, pattern, oldest: request.oldestFile(at: http.now()), tellsLater: request.afterCommit != nil)
        var token: String?
        var answer: Exchange
        repeat {
            answer = try await store.page(
                of: folder + pattern.beginning, isDeep: pattern.spansFolders, after: token)
            guard answer.response.status == 200 else { return answer }
            let page = try await store.document(answer)
            do throws(FetchError) {
                token = try listing.add(page)
            } catch {
                throw error.on("\(request.url)")
            }
        } while token != nil
        let objects = listing.objects
        let place = request.address.absoluteString
        if try request.hasNoFile(among: objects, pattern, listing.others) {
            return .gone(request, at: place, http.now())
        }
        let response = request.answer(
            at: place, Validators(etag: "\"\(objects.digest)\""), known,
            // The archive is generated again for each reader.
            headers: [("Accept-Ranges", "none")], http.now())
        let archive = BucketArchive(files: objects) { try await store.body(of: $0) }
        var exchange = Exchange.listing(response, archive, request.afterCommit.map { store.files(objects, $0) })
        exchange.origin = answer.origin
        exchange.from = answer.from
        return exchange
    }
}
