import FeedConfiguration
import FeedFetching
import FeedModel
import FeedParsing
import FeedStaging
import FeedStores

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
    let active: ActiveTime

    func send(on refresh: isolated Refresh) async throws {
        let found: QueriedRows
        do {
            found = try refresh.workerContext().rows(forEach.query, limit: min(forEach.maxRequests, .max - 1) + 1)
        } catch let error as StoreError where error.code == .schema {
            throw StoreError(.schema, "for_each: \(error.finding.text)", help: error.finding.help)
        }
        guard found.rows.count <= forEach.maxRequests else {
            throw FetchError(
                .tooLarge,
                "\(declared.url): for_each finds more than \(forEach.maxRequests) rows; raise max_requests if that is intended"
            )
        }
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
        var leftOut = LeftOutItems(most: forEach.maxSkipped)
        try await send(requests, found.rows, on: refresh, total: &total, leftOut: &leftOut)
        try refresh.checkRecords(total.records, of: declared, responses: requests.count - leftOut.count)
        refresh.run.results[index].state = refresh.newState(index, try refresh.run.fingerprint(declared), total)
        try refresh.finish(index, records: total.records, leftOut)
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
                    let permit = try await active.waiting({
                        try await refresh.permits.permit(for: requests[sent], mayWait: sent == number)
                    })
                {
                    permits.append(permit)
                    active.begin()
                    group.addTask { [sent] in
                        defer { active.end() }
                        do {
                            let context = ExchangeContext(permit, mayWait: mayWait)
                            return (sent, .success(try await head(of: requests[sent], context, on: refresh)))
                        } catch let error as Missing {
                            return (sent, .failure(error))
                        } catch {
                            throw error is CancellationError ? error : onItem(sent, of: rows, requests[sent], error)
                        }
                    }
                    sent += 1
                }
                while heads[number] == nil, let (other, head) = try await active.waiting({ try await group.next() }) {
                    heads[other] = head
                }
                guard let head = heads.removeValue(forKey: number) else { throw CancellationError() }
                let permit = permits.removeFirst()
                defer { permit.release() }
                do {
                    let exchange = try head.get()
                    let time = refresh.exchangeTime(of: request, active)
                    let body = try await time.limiting { progress in
                        let context = ExchangeContext(permit, mayWait: mayWait, progress)
                        return try await refresh.takePages(
                            exchange, of: request, index, context, leavesOut: forEach.maxSkipped != nil)
                    }
                    total.records += body.records
                    total.tables.formUnion(body.tables)
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
        of request: RequestDeclaration, _ context: ExchangeContext, on refresh: Refresh
    ) async throws -> Exchange {
        let (index, forEach) = (index, forEach)
        return try await refresh.exchangeTime(of: request, active).limiting { progress in
            var context = context
            context.progress = progress
            var repetitions = Repetitions(of: request)
            while true {
                do {
                    let exchange = try await refresh.fetchObeying(
                        request.paging?.firstPage(of: request) ?? request, context)
                    let status = exchange.response.status
                    if forEach.maxSkipped != nil, status == 404 || status == 410 {
                        let answer = status == 404 ? "404 Not Found" : "410 Gone"
                        throw Missing(
                            reason: FetchError(
                                .status, "\(request.method) \(request.url): the server answered \(answer)"))
                    }
                    await refresh.note(exchange, index)
                    try await refresh.refuseUnlessAccepted(exchange, request)
                    return exchange
                } catch {
                    let mayRepeat = try await repetitions.wait(after: error, in: refresh.environment)
                    guard mayRepeat else { throw error }
                }
            }
        }
    }
}
