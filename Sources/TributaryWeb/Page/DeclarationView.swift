import FeedConfiguration
import FeedModel
import Foundation
import TributaryEngine

extension SourceDeclaration {
    /// The most tables, and columns of a table, that are shown.
    fileprivate static let most = (tables: 200, columns: 40)

    /// Returns the declaration as the templates show it: those of its values that are never secret.
    ///
    /// - Parameter file: the path of the configuration.
    func view(in file: String) -> View {
        let facts: [(String, String?)] = [
            ("schedule", schedule.map { "\($0.text) (\($0.timeZone))" }),
            ("cache", schedule == nil ? RelativeTime.duration(cache.seconds) : nil),
            ("fresh_within", freshWithin.map { RelativeTime.duration($0.seconds) }),
            ("honor_max_age", honorsMaxAge ? nil : "false"),
            ("keep_history", historyKept.map { RelativeTime.duration($0.seconds) } ?? (keepsHistory ? "true" : nil)),
            ("enabled", isEnabled ? nil : "false"),
        ]
        var tables: [View] = []
        var count = 0
        for request in requests {
            guard case .mapping(let mapping) = request.content else { continue }
            tables += mapping.tables.prefix(Self.most.tables - tables.count).map { $0.view(of: request) }
            count += mapping.tables.count
        }
        return [
            "file": URL(fileURLWithPath: file).lastPathComponent,
            "facts": facts.compactMap { name, text in text.map { ["name": name, "text": $0] as View } },
            "tables": tables, "hasTables": !tables.isEmpty,
            "more": count > tables.count ? (count - tables.count).grouped : nil,
        ]
    }

    fileprivate static func names(_ names: [String]) -> String {
        names.prefix(most.columns).joined(separator: ", ")
            + (names.count > most.columns ? " and \((names.count - most.columns).grouped) more" : "")
    }
}

extension TableMapping {
    fileprivate func view(of request: RequestDeclaration) -> View {
        [
            "request": request.key, "name": table, "element": writtenElement, "sync": request.sync(of: self).rawValue,
            "key": SourceDeclaration.names(key),
            "columns": matchesNames ? "those of the table" : SourceDeclaration.names(columns.map(\.name)),
        ]
    }
}

extension RequestDeclaration {
    /// A description of what the request sends and how its body is read. It has the names of headers and parameters,
    /// and not their values, any of which may be a secret.
    var shownOptions: String {
        var parts: [String] = []
        func add(_ name: String, _ names: some Collection<String>) {
            if !names.isEmpty { parts.append(name + ": " + SourceDeclaration.names(names.sorted())) }
        }
        // Every request has an `Accept`, most of them none of their own.
        if headers.count > 1 || headers["Accept"] == nil { add("headers", headers.keys) }
        add("parameters", parameters.keys)
        switch authentication {
        case nil: break
        case .basic: parts.append("auth: basic")
        case .bearer: parts.append("auth: bearer")
        case .oauth2: parts.append("auth: oauth2")
        case .s3: parts.append("auth: s3")
        case .ssh: parts.append("auth: ssh")
        }
        if let afterCommit { parts.append("after_commit: \(afterCommit.text)") }
        switch content {
        case .parser(let name): parts.append("parser: \(name)")
        case .mirrored: parts.append("parser: \(BodyContent.mirroredName)")
        case .captures: parts.append("captures only")
        case .mapping: break
        }
        return parts.joined(separator: "; ")
    }
}
