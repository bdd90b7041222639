import Foundation

/// The files that users take for Prometheus and Grafana.
enum Documents {
    static func path(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../../Documentation/\(name)"
        )
        .standardizedFileURL.path
    }

    static func text(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }

    struct Dashboard: Decodable {
        struct Panel: Decodable {
            struct Place: Decodable, Equatable {
                var x: Int
                var y: Int
                var w: Int
                var h: Int
            }

            struct Source: Decodable { var type: String; var uid: String }

            struct Target: Decodable {
                var expr: String
                var refId: String
                var datasource: Source
            }

            var id: Int
            var title: String
            var type: String
            var gridPos: Place
            var datasource: Source?
            var targets: [Target]?
        }

        struct Variables: Decodable {
            struct Variable: Decodable { var name: String; var type: String }
            var list: [Variable]
        }

        var title: String
        var uid: String
        var schemaVersion: Int
        var panels: [Panel]
        var templating: Variables

        var expressions: [String] { panels.flatMap { $0.targets ?? [] }.map(\.expr) }
    }

    static func dashboard() throws -> Dashboard {
        try JSONDecoder().decode(Dashboard.self, from: Data(text("grafana-dashboard.json").utf8))
    }

    /// Returns the names of metrics in expressions or in text.
    static func metricNames(in text: String) -> Set<String> {
        Set(text.matches(of: /(?:tributary|process)_[a-z_]+/).map { String($0.output) })
    }
}
