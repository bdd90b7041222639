import FeedConfiguration
import FeedFetching
import FeedModel
import FeedParsing
import FeedStaging
import FeedStores

/// The time for which a run waits because servers request it.
struct RequestedWaits: Sendable {
    /// The most of it in one run. A longer wait discards the run, as one does that is longer than
    /// ``HostGate/longestPause``, and the next run is due at its end.
    static let most = Duration.seconds(900)

    /// The uptime at which the last wait ends.
    private var end = Duration.zero
    private var total = Duration.zero

    /// Notes a wait. Waits at the same time count once, and each counts as a second at least, so that a server cannot
    /// request any number of repetitions.
    ///
    /// - Returns: false if it is too long.
    mutating func note(_ wait: Duration, now: Duration) -> Bool {
        let last = now + max(wait, .seconds(1))
        let more = max(.zero, last - max(now, end))
        guard wait <= HostGate.longestPause, total + more <= Self.most else { return false }
        total += more
        end = max(end, last)
        return true
    }
}

/// A request that is sent once for each row of its query. Awaits the heads of the next responses while it parses a
/// body. Parses the bodies in the order of the rows.
struct ItemRequests {
    /// An omitted item: its answer is 404 or 410, or its document does not parse.
    struct Missing: Error {
        var reason: any Error
    }

    private typealias Head = Result<Exchange, Missing>

    let index: Int
    let declared: RequestDeclaration
    let forEach: ForEachDeclaration
    /// Stopped while no item is requested or read.
    let clock: ExchangeClock

    func send(on refresh: isolated Refresh) async throws {
        let found = try rows(on: refresh)
        if found.rows.isEmpty { refresh.permits.releaseHost() }
        // One row's response may be empty; the check for records covers all of them together.
        var resolver = refresh.resolver()
        // The origin of stored rows is unknown.
        if found.isOfStore { resolver.rowProvenance = .unknown("a row") }
        let requests = try found.rows.enumerated().map { number, row in
            resolver.row = row
            do {
                var request = try resolver.resolve(declared)
                request.allowsEmpty = true
                return request
            } catch {
                throw onItem(number, of: found.rows, declared, error)
            }
        }
        refresh.beginKeeping(index)
        var total = Refresh.ParsedBody(tables: Set(refresh.environment.registry.tables(of: declared.content)))
        total.digest = try Refresh.ParsedBody.digest(ofRows: found.rows)
        var leftOut = LeftOutItems(most: forEach.maxSkipped)
        try await send(requests, found.rows, on: refresh, total: &total, leftOut: &leftOut)
        try refresh.checkRecords(total.records, of: declared, responses: requests.count - leftOut.count)
        refresh.run.results[index].state = refresh.newState(index, try refresh.run.fingerprint(declared), total)
        // The digest of a span that was given would say nothing of the spans that are due. Rows of the store may be there
        // because what the documents say of them is missing.
        if leftOut.count == 0, refresh.isKnownByDigest(index, Validators()), !refresh.run.source.loadsGivenSpan,
            found.rows.isEmpty || !found.isOfStore
        {
            refresh.run.results[index].state?.digest = total.digest
        }
        try refresh.finish(index, records: total.records, leftOut)
    }

    private func rows(on refresh: isolated Refresh) throws -> QueriedRows {
        let query: String
        switch forEach.rows {
        case .slices(let slices):
            return QueriedRows(
                columns: SliceDeclaration.names, rows: try refresh.resolver().spans(slices, of: declared),
                isOfStore: false)
        case .query(let text): query = text
        }
        let found: QueriedRows
        do {
            found = try refresh.workerContext().rows(query, limit: min(forEach.maxRequests, .max - 1) + 1)
        } catch let error as StoreError where error.code == .schema {
            throw StoreError(.schema, "for_each: \(error.finding.text)", help: error.finding.help)
        }
        guard found.rows.count <= forEach.maxRequests else {
            throw FetchError(
                .tooLarge,
                "\(declared.url): for_each finds more than \(forEach.maxRequests) rows; raise max_requests if that is intended"
            )
        }
        return found
    }

    private func send(
        _ requests: [RequestDeclaration], _ rows: [[String: String?]], on refresh: isolated Refresh,
        total: inout Refresh.ParsedBody, leftOut: inout LeftOutItems
    ) async throws {
        // One of several exchanges must not wait for a permit at another host.
        let mayWait = forEach.concurrency == 1
        var permits: [HostPermit] = []
        defer { for permit in permits { permit.release() } }
        try await withThrowingTaskGroup(of: (Int, Head).self) { group in
            // The closure runs on the caller's actor only because it captures that actor.
            refresh.assertIsolated()
            var sent = 0
            var heads: [Int: Head] = [:]
            for (number, request) in requests.enumerated() {
                while sent < number + min(requests.count - number, forEach.concurrency),
                    let permit = try await clock.pausing({
                        try await refresh.permits.permit(for: requests[sent], mayWait: sent == number)
                    })
                {
                    permits.append(permit)
                    clock.resume()
                    group.addTask { [sent] in
                        defer { clock.pause() }
                        do {
                            return (
                                sent,
                                .success(try await head(of: requests[sent], permit, mayWait: mayWait, on: refresh))
                            )
                        } catch let error as Missing {
                            return (sent, .failure(error))
                        } catch {
                            throw error is CancellationError ? error : onItem(sent, of: rows, requests[sent], error)
                        }
                    }
                    sent += 1
                }
                while heads[number] == nil, let (other, head) = try await clock.pausing({ try await group.next() }) {
                    heads[other] = head
                }
                guard let head = heads.removeValue(forKey: number) else { throw CancellationError() }
                let permit = permits.removeFirst()
                defer { permit.release() }
                do {
                    let exchange = try head.get()
                    let part = refresh.exchangeClock(partOf: clock)
                    let body = try await part.limiting(request, by: refresh.environment.clock) {
                        let context = ExchangeContext(permit, mayWait: mayWait, part)
                        return try await refresh.takePages(
                            exchange, of: request, index, context, leavesOut: forEach.maxSkipped != nil)
                    }
                    total.records += body.records
                    total.tables.formUnion(body.tables)
                    total.digest = Refresh.ParsedBody.digest(of: [total.digest, body.digest])
                } catch let error as Missing {
                    var failure = onItem(number, of: rows, request, error.reason)
                    guard leftOut.add(refresh.run.shown(failure.withoutRequest)) else {
                        failure.message += "; max_skipped = \(leftOut.count) lets no more items be left out"
                        throw failure
                    }
                } catch {
                    throw error is CancellationError ? error : onItem(number, of: rows, request, error)
                }
            }
        }
    }

    /// Returns an error that names the row for which the request was sent.
    private func onItem(
        _ number: Int, of rows: [[String: String?]], _ request: RequestDeclaration, _ error: any Error
    ) -> RunError {
        RunError(
            error, in: request, item: RunError.name(ofItem: number + 1, of: rows.count, rows[number], in: declared))
    }

    /// Sends the request of an item, and returns the head of its response.
    ///
    /// - Throws: ``Missing`` for an omitted item.
    private func head(
        of request: RequestDeclaration, _ permit: HostPermit, mayWait: Bool, on refresh: Refresh
    ) async throws -> Exchange {
        let (index, forEach) = (index, forEach)
        let part = refresh.exchangeClock(partOf: clock)
        let context = ExchangeContext(permit, mayWait: mayWait, part)
        return try await part.limiting(request, by: refresh.environment.clock) {
            let (exchange, _) = try await refresh.environment.repeating(request) {
                let exchange = try await refresh.fetchObeying(
                    request.paging?.firstPage(of: request) ?? request, context)
                let status = exchange.response.status
                if forEach.maxSkipped != nil, status == 404 || status == 410 {
                    throw Missing(
                        reason: FetchError(
                            .status, "\(request.method) \(request.url): the server answered \(HTTPReason.text(status))")
                    )
                }
                await refresh.note(exchange, index)
                try await refresh.refuseUnlessAccepted(exchange, request)
                return exchange
            }
            return exchange
        }
    }
}
