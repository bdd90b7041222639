import FeedConfiguration
import FeedFetching
import FeedModel
import FeedParsing
import FeedStaging
import FeedStores
import Foundation

/// Replaces a request's references by values known only when it is sent: captures of earlier responses, a staged row,
/// values in the store, and the time.
struct RequestResolver {
    let environment: RunEnvironment
    let captured: [String: String]
    /// The source's requests. Credentials of the source may go to the hosts of these.
    let stack: [RequestDeclaration]
    /// The start of the run, which is the time of all its requests.
    let startedAt: Date
    /// The row for which the request is sent, by lower-case column name.
    var row: [String: String?] = [:]
    /// The addresses of the responses of captured values.
    var bases: [String: String] = [:]
    /// The provenances of captured values, which decide whether an address may be private; none for files.
    var provenances: [String: AddressProvenance] = [:]
    /// The least trusted origin of any row so far; unknown for rows of the store, nil if all came from files.
    var rowProvenance: AddressProvenance?
    /// Notes the tables that are made to evaluate an expression.
    var additions = AdditionLog()

    /// Returns the request to send.
    ///
    /// - Throws: ``StackError`` if a reference has no value; the store's errors.
    func resolve(_ declared: RequestDeclaration) throws -> RequestDeclaration {
        guard !declared.references.isEmpty else { return declared }
        var request = declared
        let isWhole = declared.url.isReference
        let references = declared.url.references
        let values = try Dictionary(
            references.map { ($0, try addressed($0, isWhole: isWhole, declared)) }, uniquingKeysWith: { $1 })
        request.url = declared.url.resolved { values[$0] ?? "" }
        if !isWhole { try checkSegments(of: request.url.value, declared, references) }
        // The template is the address in messages. A captured value may be a secret, and so may the query of a captured
        // address.
        request.url.template = references.reduce(declared.url.template) { template, reference in
            if case .capture = reference, !isWhole { return template }
            let value = values[reference] ?? ""
            return template.replacingOccurrences(
                of: "${\(reference)}", with: isWhole ? String(value.prefix { $0 != "?" && $0 != "#" }) : value)
        }
        request.headers = try declared.headers.mapValues { try $0.resolved { try value($0, declared) } }
        for (name, value) in request.headers where value.value.utf8.contains(where: { [0, 10, 13].contains($0) }) {
            throw StackError("\(declared.url): the value of the header '\(name)' would have a line feed in it")
        }
        request.body = try declared.body?.resolved { try value($0, declared) }
        // A parameter is left out if the store has no value for it yet.
        request.parameters = try declared.parameters.mapValues { try $0.resolved { try value($0, declared) } }
            .filter { !($0.value.value.isEmpty && $0.value.template.contains("${last:")) }
        for reference in declared.mappedReferences {
            request.given[reference.description] = try given(reference, declared)
        }
        let naming = try referencesNaming(request, declared, values)
        guard !naming.isEmpty else { return request }
        request.provenance = provenance(naming)
        let origin = try request.origin()
        // Credentials of the source may go to the origins of its other requests.
        if !stack.contains(where: { !$0.url.isDynamic && (try? $0.origin()) == origin }) { try request.dropSecrets() }
        return request
    }

    /// Returns the provenance of a host that these references name; nil for files.
    private func provenance(_ naming: [Reference]) -> AddressProvenance? {
        let found = naming.compactMap { reference -> AddressProvenance? in
            let shown = "${\(reference)}"
            return switch reference {
            case .capture(let name): provenances[name]
            case .row: rowProvenance.map { AddressProvenance(namer: shown, origin: $0.origin, from: $0.from) }
            case .slice, .last: .unknown(shown)
            case .now: nil
            }
        }
        return found.first.map { found.dropFirst().reduce($0) { $0.combined(with: $1) } }
    }

    /// Returns the references that have chosen the host.
    private func referencesNaming(
        _ resolved: RequestDeclaration, _ declared: RequestDeclaration, _ values: [Reference: String]
    ) throws -> [Reference] {
        guard declared.url.isDynamic else { return [] }
        do {
            // A response leads to no file server or bucket, unless the declaration does, and to no file.
            let isDeclared =
                [.server, .bucket].contains(RequestAddress.kind(of: declared.url.value))
                || declared.url.references.allSatisfy { $0.isTime || $0.bound != nil }
            _ = isDeclared ? try RequestAddress(resolved.url.value).url : try WebAddress(resolved.url.value).url
        } catch {
            throw FetchError(.redirect, "\(declared.url): the address after replacement cannot be used: \(error)")
        }
        func origin(_ reference: Reference, _ replacement: String) -> Origin? {
            var probe = declared
            probe.url = declared.url.resolved { $0 == reference ? replacement : values[$0] ?? "" }
            return try? probe.address().origin
        }
        let actual = try resolved.origin()
        return values.keys.filter { !$0.isTime }.sorted { $0.description < $1.description }.filter {
            origin($0, "x") != actual || origin($0, "y") != actual
        }
    }

    /// Checks that no value makes a segment `.` or `..` of the path. Clients and servers remove such segments together
    /// with those before them (RFC 3986, section 5.2.4), so that the request would go to another address, with its
    /// credentials.
    ///
    /// - Throws: ``StackError``.
    private func checkSegments(
        of address: String, _ declared: RequestDeclaration, _ references: [Reference]
    ) throws {
        let harmless = declared.url.resolved { _ in "x" }.value
        guard Self.dotSegments(of: address) > Self.dotSegments(of: harmless) else { return }
        let names = references.map { "${\($0)}" }.joined(separator: ", ")
        throw StackError(
            "\(declared.url): the value of \(names) would make a part of the path '.' or '..', which leads to another address; "
                + "leave such values out, as with a WHERE in for_each")
    }

    /// Returns the number of segments `.` and `..` of an address's path, also encoded ones.
    private static func dotSegments(of address: String) -> Int {
        var path = String(address.prefix { $0 != "?" && $0 != "#" })
        // A value may have been encoded before it was encoded as a part of the address.
        while let decoded = path.removingPercentEncoding, decoded != path { path = decoded }
        return path.split { $0 == "/" || $0 == "\\" }.count { $0 == "." || $0 == ".." }
    }

    /// Returns the value of a reference as a part of the address, encoded unless it is the whole address. Slashes of a time are
    /// those of the declaration, and stay.
    private func addressed(_ reference: Reference, isWhole: Bool, _ request: RequestDeclaration) throws -> String {
        let value = try value(reference, request)
        guard !isWhole else { return absolute(value, reference) }
        guard reference.isTime else { return value.percentEncoded }
        return value.split(separator: "/", omittingEmptySubsequences: false).map { String($0).percentEncoded }
            .joined(separator: "/")
    }

    /// Returns the address for a captured one, which may be relative to that of its response (RFC 3986, section 5.1.3).
    private func absolute(_ value: String, _ reference: Reference) -> String {
        guard case .capture(let name) = reference, let base = bases[name].flatMap({ URL(string: $0) }), !value.isEmpty,
            let url = URL(string: value, relativeTo: base), URL(string: value)?.scheme == nil
        else { return value }
        return url.absoluteString
    }

    /// Returns the value of a reference; nil for a column that is NULL.
    private func given(_ reference: Reference, _ request: RequestDeclaration) throws -> String? {
        if let column = reference.column, case .some(.none) = row[column.lowercased()] { return nil }
        return try value(reference, request)
    }

    private func value(_ reference: Reference, _ request: RequestDeclaration) throws -> String {
        switch reference {
        case .capture(let name):
            guard let value = captured[name] else {
                let asked = stack.first { $0.captures.contains { $0.name == name } }
                let path = asked?.captures.first { $0.name == name }?.written ?? ""
                throw StackError(
                    "${capture:\(name)} is not known: the response of request '\(asked?.key ?? "")' (\(asked?.url.description ?? "")) "
                        + "has nothing at '\(path)'")
            }
            return value
        case .row(let name):
            guard let value = row[name.lowercased()] else {
                throw StackError(
                    "\(request.url): the rows of for_each have no column '\(name)'; they have "
                        + row.keys.sorted().joined(separator: ", "))
            }
            guard let value else {
                throw StackError("\(request.url): a row of for_each has no value in its column '\(name)'")
            }
            return value
        case .slice(let bound):
            return (row[bound] ?? nil) ?? ""
        case .last(let expression):
            return try lastValue(expression, request)
        case .now(let form):
            return try RunTime(form).text(at: startedAt, in: request.timeZone ?? .utc)
        }
    }

    /// Returns the spans of `slices`, as rows for which the request is sent.
    ///
    /// - Throws: ``StackError``; the store's errors.
    func spans(_ slices: SliceDeclaration, of request: RequestDeclaration) throws -> [[String: String?]] {
        let from = try slices.given.from ?? slices.from.resolved { try value($0, request) }.value
        let to = try slices.given.to ?? slices.to?.resolved { try value($0, request) }.value
        do throws(Finding) {
            return try slices.spans(from: from, to: to, now: startedAt, zone: request.timeZone ?? .utc)
        } catch {
            throw StackError("\(request.url): slices: \(error)")
        }
    }

    private func lastValue(_ expression: String, _ request: RequestDeclaration) throws -> String {
        guard let table = environment.registry.tables(of: request.content).first else {
            throw StackError("\(request.url): ${last:\(expression)} needs a request whose table is declared")
        }
        try environment.store.renewTableInfos(of: [table])
        try HandlerFactory(request: request, environment: environment).prepareStore(additions)
        return try environment.store.value(of: expression, in: table, scope: request.scope) ?? ""
    }
}
