package import FeedDeclarations

/// Counts the users of values that a configuration declares, to tell when nobody needs a value any more.
struct UseCounts<Value: Hashable> {
    private var counts: [Value: Int] = [:]
    /// The values that the configuration in force declares; nil before another one has taken its place.
    private var declared: Set<Value>?

    mutating func begin(_ values: Set<Value>) {
        for value in values { counts[value, default: 0] += 1 }
    }

    /// - Returns: those of the values that nobody needs any more.
    mutating func end(_ values: Set<Value>) -> [Value] {
        for value in values { counts[value] = counts[value].flatMap { $0 > 1 ? $0 - 1 : nil } }
        return values.filter(isUnneeded)
    }

    /// - Parameter known: the values that may have been needed so far.
    /// - Returns: those of them that nobody needs any more.
    mutating func declare(_ values: Set<Value>, known: some Sequence<Value>) -> [Value] {
        declared = values
        return known.filter(isUnneeded)
    }

    private func isUnneeded(_ value: Value) -> Bool {
        declared.map { !$0.contains(value) } ?? false && counts[value] == nil
    }
}

extension HTTPFetcher {
    /// Notes that a run is about to send requests. Until its end, their connections and tokens are kept, whatever is
    /// declared meanwhile.
    package func begin(_ requests: [RequestDeclaration]) {
        clients.begin(Set(requests.map(\.transport)))
        tokens.begin(requests.tokenClients)
    }

    /// Notes that a run has ended.
    package func end(_ requests: [RequestDeclaration]) {
        clients.end(Set(requests.map(\.transport)))
        tokens.end(requests.tokenClients)
    }

    /// Notes what the configuration in force declares. Connections and tokens of others end with the runs that use them.
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
