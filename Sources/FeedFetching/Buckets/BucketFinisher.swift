import FeedConfiguration
import FeedModel
import Foundation

/// Deletes or moves objects of a bucket after their commit. A move is a copy, then a deletion.
struct BucketFinisher {
    let action: FileAction
    let store: BucketExchange

    /// - Parameter objects: the objects as they were read.
    /// - Throws: ``FetchError`` if the store refuses; `CancellationError`.
    func finish(_ objects: [BucketListing.Object]) async throws {
        for object in objects {
            try Task.checkCancellation()
            let key = store.key(of: object)
            do {
                let head = try await store.send("HEAD", key)
                try check(head, [200, 404])
                guard head.response.status == 200, isSame(object, head.response) else { continue }
                if case .move(let folder) = action {
                    guard try await copy(object, to: folder) else { continue }
                }
                try check(try await store.send("DELETE", key), [200, 204, 404])
            } catch let error as FetchError {
                throw error.on(action.failure(on: object.shown))
            }
        }
    }

    /// Returns true if the object is the one that was read, and no later one of its bytes.
    private func isSame(_ object: BucketListing.Object, _ response: FeedResponse) -> Bool {
        guard let etag = response.validators.etag, object.isSame(etag) else { return false }
        guard object.tellsLater, let time = response[header: "Last-Modified"].flatMap(HTTPDate.parse) else {
            return true
        }
        return Int(time.timeIntervalSince1970) == object.modified
    }

    /// Returns true if an object has a key.
    private func isTaken(_ key: String) async throws -> Bool {
        let head = try await store.send("HEAD", key)
        try check(head, [200, 404])
        return head.response.status == 200
    }

    /// - Returns: false if the object has changed.
    private func copy(_ object: BucketListing.Object, to folder: String) async throws -> Bool {
        let parts = folder.split(separator: "/").map { $0 + "/" }.joined()
        for name in [object.path, SourceFiles.otherName(object.path, modified: object.modified)] {
            let key = store.address.folder + parts + MemberPattern.name(of: name)
            guard try await !isTaken(key) else { continue }
            let exchange = try await store.send(
                "PUT", key,
                [
                    .init(name: "x-amz-copy-source", value: store.address.path(of: store.key(of: object))),
                    .init(name: "x-amz-copy-source-if-match", value: object.etag),
                ])
            if [404, 412].contains(exchange.response.status) { return false }
            try check(exchange, [200])
            // A copy may fail after its status was sent.
            let values = try await store.document(exchange).values
            guard let code = values["Code"] else { return true }
            throw FetchError(.status, "\(store.request.url): \(code) (\((values["Message"] ?? "").shortened(to: 300)))")
        }
        throw SourceFiles.taken
    }

    private func check(_ exchange: Exchange, _ expected: Set<Int>) throws(FetchError) {
        guard expected.contains(exchange.response.status) else { throw store.failure(exchange) }
    }
}

extension BucketExchange {
    /// Returns the objects on which `after_commit` will act.
    func files(_ objects: [BucketListing.Object], _ action: FileAction) -> SourceFiles {
        SourceFiles(action, objects) { context in
            let store = BucketExchange(http: http, request: request, address: address, context: context)
            try await BucketFinisher(action: action, store: store).finish(objects)
        }
    }
}
