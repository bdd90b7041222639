import FeedDeclarations
import FeedFetching
import FeedParsing
import FeedStaging
import FeedStores
import Foundation

/// Replaces a request's references by values known only when it is sent: captures of earlier responses, a staged row,
/// and values in the store.
struct RequestResolver {
    let environment: RunEnvironment
    let captured: [String: String]
    /// The source's requests. What is declared for the source may go to the hosts that they name.
    let stack: [RequestDeclaration]
    /// The row for which the request is sent, by lower-case column name.
    var row: [String: String?] = [:]
    /// What an address is led by that a captured value names, by the value's name; none for a file's.
    var leads: [String: AddressLead] = [:]
    /// The same for the values of rows, which may be of any response so far, or of any at all where they stood in the
    /// store; nil where all were files.
    var rowLead: AddressLead?

    /// Returns the request as it is sent.
    ///
    /// - Throws: ``StackError`` if a reference has no value, and the store's errors.
    func resolve(_ declared: RequestDeclaration) throws -> RequestDeclaration {
        guard !declared.references.isEmpty else { return declared }
        var request = declared
        // A value is encoded as a part of the address, unless it is the whole address.
        let isWhole = declared.url.isReference
        let references = declared.url.references
        let values = try Dictionary(references.map { ($0, try value($0, declared)) }, uniquingKeysWith: { $1 })
            .mapValues { isWhole ? $0 : $0.percentEncoded }
        request.url = declared.url.resolved { values[$0] ?? "" }
        // The template is the address in messages. A captured value may be a secret, and so may the query of a captured
        // address.
        request.url.template = references.reduce(declared.url.template) { template, reference in
            guard isWhole || !reference.hasPrefix("capture:") else { return template }
            let value = values[reference] ?? ""
            return template.replacingOccurrences(
                of: "${\(reference)}", with: isWhole ? String(value.prefix { $0 != "?" && $0 != "#" }) : value)
        }
        request.headers = try declared.headers.mapValues { try $0.resolved { try value($0, declared) } }
        for (name, value) in request.headers where value.value.utf8.contains(where: { [0, 10, 13].contains($0) }) {
            throw StackError(
                .reference, "\(declared.url): the value of the header '\(name)' would have a line feed in it")
        }
        request.body = try declared.body?.resolved { try value($0, declared) }
        // A parameter is left out if the store has no value for it yet.
        request.parameters = try declared.parameters.mapValues { try $0.resolved { try value($0, declared) } }
            .filter { !($0.value.value.isEmpty && $0.value.template.contains("${last:")) }
        for reference in declared.mappedReferences { request.given[reference] = try given(reference, declared) }
        let naming = try referencesNaming(request, declared, values)
        guard !naming.isEmpty else { return request }
        request.lead = lead(naming)
        let origin = try request.origin()
        // What is declared for the source may go wherever another of its requests goes.
        if !stack.contains(where: { !$0.url.isDynamic && (try? $0.origin()) == origin }) { try request.dropSecrets() }
        return request
    }

    /// Returns what has named the host of a request, where these references did; nil where it was files.
    private func lead(_ naming: [String]) -> AddressLead? {
        let found = naming.compactMap { reference -> AddressLead? in
            let shown = "${\(reference)}"
            if reference.hasPrefix("capture:") { return leads[String(reference.dropFirst("capture:".count))] }
            guard reference.hasPrefix("row:") else { return .unknown(shown) }
            return rowLead.map { AddressLead(namer: shown, origin: $0.origin, from: $0.from) }
        }
        return found.first.map { found.dropFirst().reduce($0) { $0.combined(with: $1) } }
    }

    /// Returns the references that have chosen the host.
    private func referencesNaming(
        _ resolved: RequestDeclaration, _ declared: RequestDeclaration, _ values: [String: String]
    ) throws -> [String] {
        guard declared.url.isDynamic else { return [] }
        do {
            _ = try WebAddress(resolved.url.value)
        } catch {
            throw FetchError(.redirect, "\(declared.url): what it stands for cannot be asked: \(error)")
        }
        func origin(_ reference: String, _ replacement: String) -> String? {
            var probe = declared
            probe.url = declared.url.resolved { $0 == reference ? replacement : values[$0] ?? "" }
            return try? probe.origin()
        }
        let actual = try resolved.origin()
        return values.keys.sorted().filter { origin($0, "x") != actual || origin($0, "y") != actual }
    }

    /// Returns the value of a reference; nil for a column that is NULL.
    private func given(_ reference: String, _ request: RequestDeclaration) throws -> String? {
        let name = reference.dropFirst("row:".count).lowercased()
        if reference.hasPrefix("row:"), case .some(.none) = row[name] { return nil }
        return try value(reference, request)
    }

    private func value(_ reference: String, _ request: RequestDeclaration) throws -> String {
        let parts = reference.split(separator: ":", maxSplits: 1).map(String.init)
        let name = parts.count > 1 ? parts[1] : ""
        switch parts[0] {
        case "capture":
            guard let value = captured[name] else {
                let asked = stack.first { $0.captures.contains { $0.name == name } }
                let path = asked?.captures.first { $0.name == name }?.written ?? ""
                throw StackError(
                    .reference,
                    "${capture:\(name)} is not known: the response of request '\(asked?.key ?? "")' (\(asked?.url.description ?? "")) "
                        + "has nothing at '\(path)'")
            }
            return value
        case "row":
            guard let value = row[name.lowercased()] else {
                throw StackError(
                    .reference,
                    "\(request.url): the rows of for_each have no column '\(name)'; they have "
                        + row.keys.sorted().joined(separator: ", "))
            }
            guard let value else {
                throw StackError(.reference, "\(request.url): a row of for_each has no value in its column '\(name)'")
            }
            return value
        default:
            return try lastValue(name, request)
        }
    }

    private func lastValue(_ expression: String, _ request: RequestDeclaration) throws -> String {
        guard let table = environment.registry.tables(of: request.content).first else {
            throw StackError(
                .reference, "\(request.url): ${last:\(expression)} needs a request whose table is declared")
        }
        try environment.store.renewTableInfos(of: [table])
        try BodyParserFactory(request: request, environment: environment).prepareStore()
        return try environment.store.value(of: expression, in: table, scope: request.scope) ?? ""
    }
}
