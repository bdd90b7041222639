import Foundation
import Testing

/// Links between the Markdown files.
@Suite struct LinkTests {
    @Test func everyLinkLeadsToAFileAndAHeadingThatAreThere() throws {
        let files = Dictionary(uniqueKeysWithValues: try MarkdownFile.all().map { ($0.path, $0) })
        for file in files.values {
            let folder = URL(fileURLWithPath: "/" + file.path).deletingLastPathComponent()
            for link in file.links where !link.target.contains("://") && !link.target.hasPrefix("mailto:") {
                let parts = link.target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
                let path =
                    parts[0].isEmpty
                    ? file.path
                    : String(folder.appendingPathComponent(String(parts[0])).standardizedFileURL.path.dropFirst())
                let place = "\(file.path):\(link.line): \(link.target)"
                let exists = FileManager.default.fileExists(atPath: MarkdownFile.root.appendingPathComponent(path).path)
                #expect(exists, "\(place): there is no such file")
                guard parts.count > 1, exists else { continue }
                #expect(files[path]?.anchors.contains(String(parts[1])) == true, "\(place): there is no such heading")
            }
        }
    }
}
