package import FeedConfiguration

/// Counts the uses of values that a configuration declares, to find unused values.
struct UseCounts<Value: Hashable> {
    private var counts: [Value: Int] = [:]
    /// The values that the current configuration declares; nil before the first reload.
    private var declared: Set<Value>?

    mutating func begin(_ values: Set<Value>) {
        for value in values { counts[value, default: 0] += 1 }
    }

    /// - Returns: the unused ones of the values.
    mutating func end(_ values: Set<Value>) -> [Value] {
        for value in values { counts[value] = counts[value].flatMap { $0 > 1 ? $0 - 1 : nil } }
        return values.filter(isUnneeded)
    }

    /// - Parameter known: the values that may have been in use.
    /// - Returns: the unused ones of them.
    mutating func declare(_ values: Set<Value>, known: some Sequence<Value>) -> [Value] {
        declared = values
        return known.filter(isUnneeded)
    }

    private func isUnneeded(_ value: Value) -> Bool {
        declared.map { !$0.contains(value) } ?? false && counts[value] == nil
    }
}

extension HTTPFetcher {
    /// Notes that a run is about to send requests. Their connections and tokens are kept until its end, even after a
    /// reload.
    package func begin(_ requests: [RequestDeclaration]) {
        clients.begin(Set(requests.map(\.transport)))
        tokens.begin(requests.tokenClients)
    }

    /// Notes that a run has ended.
    package func end(_ requests: [RequestDeclaration]) {
        clients.end(Set(requests.map(\.transport)))
        tokens.end(requests.tokenClients)
    }

    /// Notes the requests of the current configuration. Connections and tokens of others end with the runs that use
    /// them.
    package func declare(_ requests: [RequestDeclaration]) {
        clients.declare(Set(requests.map(\.transport)))
        tokens.declare(requests.tokenClients)
    }
}

extension [RequestDeclaration] {
    fileprivate var tokenClients: Set<ClientCredentials> {
        Set(compactMap { if case .oauth2(let client) = $0.authentication { client } else { nil } })
    }
}
