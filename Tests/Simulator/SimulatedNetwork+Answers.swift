import AsyncHTTPClient
import FeedModel
import Foundation
import NIOHTTP1

/// What publishers answer.
extension SimulatedNetwork {
    struct Answer {
        var status: Int
        var headers = HTTPHeaders()
        var body: [UInt8]?
        var isCut = false
        var note = ""

        mutating func lead(to address: String, _ status: Int) {
            self.status = status
            headers.add(name: "Location", value: address)
            note = "to \(address)"
        }
    }

    func answer(of feed: Feed, at url: URL, _ headers: HTTPHeaders, until end: Duration) async throws -> Answer {
        try await transit(feed.path, until: end)
        if faults.fires(.refused, feed.path) { throw HTTPClientError.connectTimeout }
        var answer = Answer(status: 200)
        answer.headers.add(name: "Date", value: Feed.written(SimulatedClock.epoch + loop.now.seconds))
        if faults.fires(.failure, feed.path) {
            answer.status = faults.number(in: 0...1, "failure:" + feed.path) == 0 ? 500 : 503
        } else if faults.fires(.busy, feed.path) {
            answer.status = 429
            let seconds = faults.number(in: -1800...1800, "busy:" + feed.path)
            if seconds > 0 { answer.headers.add(name: "Retry-After", value: "\(seconds)") }
        } else if let address = feed.address(after: url) {
            answer.lead(to: address, 301)
        } else if faults.fires(.redirect, feed.path) {
            redirect(feed, url, &answer)
        } else {
            publish(feed, url, headers, &answer)
        }
        try await transit(feed.path, until: end)
        return answer
    }

    /// Leads somewhere else: to the same feed, for now or for good, in circles, or where nobody may go.
    private func redirect(_ feed: Feed, _ url: URL, _ answer: inout Answer) {
        let hosts = internet.hosts.keys.sorted()
        // Daemons that share a store keep to the limits of the hosts that sources ask first.
        let host = internet.isShared ? feed.host : hosts[faults.number(in: 0...hosts.count - 1, "host:" + feed.path)]
        let query = url.query.map { "?" + $0 } ?? ""
        let status = [301, 302, 307, 308][faults.number(in: 0...3, "status:" + feed.path)]
        switch faults.number(in: 0...9, "to:" + feed.path) {
        case 0: answer.lead(to: url.absoluteString, status)
        case 1: answer.lead(to: "http://\(SimulatedNames.privateName)\(feed.path)/inside", status)
        case 2: answer.lead(to: "http://127.0.0.1\(feed.path)/inside", status)
        default: answer.lead(to: "http://\(host)\(feed.path)/elsewhere\(query)", status)
        }
    }

    private func publish(_ feed: Feed, _ url: URL, _ headers: HTTPHeaders, _ answer: inout Answer) {
        if let page = feed.page(at: url) { return send(page, feed, &answer) }
        let (tag, modified) = (headers.first(name: "If-None-Match"), headers.first(name: "If-Modified-Since"))
        let version = feed.current
        let isUnchanged = feed.isCurrent(tag: tag, modified: modified)
        let isLeftOut =
            isUnchanged ? !faults.fires(.ignoredCondition, feed.path) : faults.fires(.lyingUnchanged, feed.path)
        if tag != nil || modified != nil, isLeftOut {
            answer.status = 304
            answer.note = isUnchanged ? "" : "lies"
            return
        }
        feed.tag(version).map { answer.headers.add(name: "ETag", value: $0) }
        feed.lastModified(version).map { answer.headers.add(name: "Last-Modified", value: $0) }
        answer.note = "version \(version)"
        let document = feed.versions[version].document
        guard feed.isPaged, faults.fires(.pages, feed.path) else { return send((document, nil), feed, &answer) }
        send(feed.page(1, of: version, at: url), feed, &answer)
    }

    /// - Parameter page: a document, and the address of the next page.
    private func send(_ page: (document: String, next: String?), _ feed: Feed, _ answer: inout Answer) {
        var document = page.document
        if let next = page.next {
            answer.headers.add(name: "Link", value: "<\(next)>; rel=\"next\"")
            answer.note += " in pages"
        }
        if faults.fires(.malformed, feed.path) {
            document = document.replacingOccurrences(of: "</items>", with: "<item></items>")
            answer.note += " malformed"
        }
        let bytes = Array(document.utf8)
        answer.body = bytes
        if faults.number(in: 0...1, "length:" + feed.path) == 0 {
            answer.headers.add(name: "Content-Length", value: "\(bytes.count)")
        }
        guard faults.fires(.cut, feed.path) else { return }
        answer.body = Array(bytes.prefix(faults.number(in: 0...max(0, bytes.count - 1), "cut:" + feed.path)))
        answer.isCut = true
        answer.note += " cut"
    }
}
