import FeedDeclarations
import FeedModel
import Foundation
import TributaryEngine

/// The declaration of a source, as the templates show it: those of its values that are never secret.
struct DeclarationView {
    struct Fact {
        var name: String
        var text: String
    }

    struct Table {
        var request: String
        var name: String
        var element: String
        var sync: String
        var key: String
        var columns: String
    }

    /// The most tables, and columns of a table, that are shown.
    private static let most = (tables: 200, columns: 40)

    /// The name of the configuration's file; nil for a source that is not declared any more.
    var file: String?
    var facts: [Fact] = []
    var tables: [Table] = []
    var hasTables = false
    /// The number of tables that are not shown.
    var more: String?

    init(_ source: SourceDeclaration?, in file: String) {
        guard let source else { return }
        self.file = URL(fileURLWithPath: file).lastPathComponent
        func add(_ name: String, _ text: String?) { text.map { facts.append(Fact(name: name, text: $0)) } }
        add("schedule", source.schedule.map { "\($0.text) (\($0.timeZone))" })
        add("cache", source.schedule == nil ? RelativeTime.duration(source.cache.seconds) : nil)
        add("fresh_within", source.freshWithin.map { RelativeTime.duration($0.seconds) })
        add("honor_max_age", source.honorsMaxAge ? nil : "false")
        add("keep_history", source.keepsHistory ? "true" : nil)
        add("enabled", source.isEnabled ? nil : "false")
        var count = 0
        for request in source.requests {
            guard case .mapping(let mapping) = request.content else { continue }
            for table in mapping.tables {
                count += 1
                guard count <= Self.most.tables else { continue }
                tables.append(Table(table, of: request))
            }
        }
        hasTables = !tables.isEmpty
        more = count > tables.count ? (count - tables.count).grouped : nil
    }

    fileprivate static func names(_ names: [String]) -> String {
        names.prefix(most.columns).joined(separator: ", ")
            + (names.count > most.columns ? " and \((names.count - most.columns).grouped) more" : "")
    }
}

extension DeclarationView.Table {
    fileprivate init(_ table: TableMapping, of request: RequestDeclaration) {
        self.request = request.key
        name = table.table
        element = table.writtenElement
        sync = request.sync(of: table).rawValue
        key = DeclarationView.names(table.key)
        columns = table.matchesNames ? "those of the table" : DeclarationView.names(table.columns.map(\.name))
    }
}

extension RequestDeclaration {
    /// A description of what the request sends and how its body is read. It has the names of headers and parameters,
    /// and not their values, any of which may be a secret.
    var shownOptions: String {
        var parts: [String] = []
        func add(_ name: String, _ names: some Collection<String>) {
            if !names.isEmpty { parts.append(name + ": " + DeclarationView.names(names.sorted())) }
        }
        // Every request has an `Accept`, most of them none of their own.
        if headers.count > 1 || headers["Accept"] == nil { add("headers", headers.keys) }
        add("parameters", parameters.keys)
        switch authentication {
        case nil: break
        case .basic: parts.append("auth: basic")
        case .bearer: parts.append("auth: bearer")
        case .oauth2: parts.append("auth: oauth2")
        case .ssh: parts.append("auth: ssh")
        }
        switch content {
        case .parser(let name): parts.append("parser: \(name)")
        case .mirrored: parts.append("parser: \(BodyContent.mirroredName)")
        case .captures: parts.append("captures only")
        case .mapping: break
        }
        return parts.joined(separator: "; ")
    }
}
