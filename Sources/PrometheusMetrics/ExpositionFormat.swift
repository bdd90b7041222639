/// The text formats of metrics.
package enum ExpositionFormat: Sendable, CaseIterable {
    /// prometheus.io/docs/instrumenting/exposition_formats, "Text-based format".
    case text
    /// OpenMetrics 1.0.0.
    case openMetrics

    package var contentType: String {
        switch self {
        case .text: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }

    /// Chooses what the `Accept` header likes best (RFC 9110, section 12.5.1). Who names neither gets the older one, which
    /// everybody reads.
    package init(accept: String?) {
        let ranges = (accept ?? "").split(separator: ",").compactMap(Self.range)
        // Of equal ones, the first counts.
        let best = ranges.enumerated().filter { $0.element.quality > 0 }
            .min { ($1.element.quality, $0.offset) < ($0.element.quality, $1.offset) }
        self = best?.element.format ?? .text
    }

    private static func range(_ text: Substring) -> (format: ExpositionFormat, quality: Double)? {
        let parts = text.split(separator: ";").map { part in
            String(decoding: part.utf8.filter { $0 != 0x20 && $0 != 0x09 }, as: UTF8.self).lowercased()
        }
        var quality = 1.0
        var version: String?
        for part in parts.dropFirst() {
            if part.hasPrefix("q=") { quality = Double(part.dropFirst(2)) ?? 0 }
            if part.hasPrefix("version=") { version = part.dropFirst(8).filter { $0 != "\"" } }
        }
        switch parts.first {
        case "application/openmetrics-text":
            // Version 0.0.1 is the same text; later ones are not known here.
            guard version.map(["1.0.0", "0.0.1"].contains) ?? true else { return nil }
            return (.openMetrics, quality)
        case "text/plain", "text/*", "*/*": return version.map { $0 == "0.0.4" } ?? true ? (.text, quality) : nil
        default: return nil
        }
    }
}
