import Foundation
import Testing

/// The folders of a target know each other one way: where files of one name types of another, that one names none of theirs.
@Suite struct FolderTests {
    private struct Edge: Hashable {
        var from: String
        var to: String
    }

    @Test func foldersOfATargetKnowEachOtherOneWay() throws {
        let files = try Self.files()
        #expect(files.count > 500)
        var declaring: [String: Set<String>] = [:]
        for (path, words) in files {
            for name in words.declared { declaring[name, default: []].insert(path) }
        }
        var examples: [Edge: String] = [:]
        for (path, words) in files {
            for name in words.used {
                // A name that several files declare says nothing.
                guard let owner = declaring[name], owner.count == 1, let other = owner.first else { continue }
                let edge = Edge(from: Self.folder(path), to: Self.folder(other))
                guard edge.from != edge.to, Self.target(path) == Self.target(other) else { continue }
                examples[edge] = "\(path) names \(name)"
            }
        }
        for (edge, example) in examples where edge.from < edge.to {
            guard let back = examples[Edge(from: edge.to, to: edge.from)] else { continue }
            Issue.record("\(edge.from) and \(edge.to): \(example); \(back)")
        }
    }

    private static func files() throws -> [String: Words] {
        let root = MarkdownFile.root.appendingPathComponent("Sources")
        var files: [String: Words] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: root.path) where path.hasSuffix(".swift") {
            files[path] = Words(try Data(contentsOf: root.appendingPathComponent(path)))
        }
        return files
    }

    private static func folder(_ path: String) -> String { String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]) }

    private static func target(_ path: String) -> Substring { path.prefix { $0 != "/" } }

    /// The names of types in a source: those that it declares, and all. Comments, imports and strings are passed over.
    private struct Words {
        var declared: Set<String> = []
        var used: Set<String> = []

        private static let keywords: Set<String> = ["struct", "class", "enum", "actor", "protocol", "typealias"]

        init(_ source: Data) {
            for line in source.split(separator: UInt8(ascii: "\n")) { read(Array(line)) }
        }

        private mutating func read(_ line: [UInt8]) {
            var before = ""
            var index = 0
            while index < line.count {
                let start = index
                switch line[index] {
                case UInt8(ascii: "/") where index + 1 < line.count && line[index + 1] == UInt8(ascii: "/"): return
                case UInt8(ascii: "\""):
                    index += 1
                    while index < line.count, line[index] != UInt8(ascii: "\"") {
                        index += line[index] == UInt8(ascii: "\\") ? 2 : 1
                    }
                    index += 1
                case let byte where Self.isInWord(byte):
                    while index < line.count, Self.isInWord(line[index]) { index += 1 }
                    let word = String(decoding: line[start..<index], as: UTF8.self)
                    guard word != "import" else { return }
                    if word.first?.isUppercase == true {
                        used.insert(word)
                        if Self.keywords.contains(before) { declared.insert(word) }
                    }
                    before = word
                default: index += 1
                }
            }
        }

        private static func isInWord(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }
}
