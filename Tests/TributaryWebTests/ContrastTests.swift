import Foundation
import Testing

@testable import TributaryWeb

/// The colours of texts against what they stand on, in both schemes: 4.5:1 (WCAG 2.2, 1.4.3); 3:1 for what is drawn
/// (1.4.11).
struct ContrastTests {
    private func schemes() throws -> [[String: Double]] {
        let style = String(decoding: PackageResources.page_css, as: UTF8.self)
        return try style.components(separatedBy: ":root {").dropFirst().map { part in
            var colors: [String: Double] = [:]
            let block = part.prefix(while: { $0 != "}" })
            for match in block.matches(of: /--([a-z]+):\s*#([0-9a-f]{6})/) {
                let value = try #require(Int(match.2, radix: 16))
                colors[String(match.1)] = Self.luminance([value >> 16, value >> 8 & 255, value & 255])
            }
            return colors
        }
    }

    /// WCAG 2.2, relative luminance.
    private static func luminance(_ channels: [Int]) -> Double {
        let linear = channels.map { channel -> Double in
            let value = Double(channel) / 255
            return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }

    @Test func textsCanBeRead() throws {
        let schemes = try schemes()
        #expect(schemes.count == 2)
        for (index, colors) in schemes.enumerated() {
            for (names, least) in [
                (["text", "soft", "link", "good", "bad", "warn", "info", "none"], 4.5),
                (["inserted", "updated", "deleted", "plain"], 3.0),
            ] {
                for name in names {
                    for back in ["back", "panel"] {
                        let (a, b) = (try #require(colors[name]), try #require(colors[back]))
                        let ratio = (max(a, b) + 0.05) / (min(a, b) + 0.05)
                        #expect(ratio >= least, "\(name) on \(back) in scheme \(index): \(ratio)")
                    }
                }
            }
        }
    }
}
