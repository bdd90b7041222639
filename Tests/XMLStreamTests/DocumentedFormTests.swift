import Foundation
import Testing

@testable import XMLStream

/// "Forms of values" in `Documentation/Reference/mappings.md` lists all forms of dates, and no others.
@Suite struct DocumentedFormTests {
    /// The cells of the rows of a table, each with the texts between backquotes.
    private func rows(after header: String) throws -> [[[String]]] {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Documentation/Reference/mappings.md")
        let lines = try String(contentsOf: path, encoding: .utf8).components(separatedBy: "\n")
        let start = try #require(lines.firstIndex { $0.hasPrefix(header) })
        return lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map { line in
            line.components(separatedBy: "|").dropFirst().dropLast().map { cell in
                cell.matches(of: /`([^`]*)`/).map { String($0.output.1) }
            }
        }
    }

    private func isForm(_ pattern: String) -> Bool { (try? DateFormat(writing: pattern)) != nil }

    @Test func theLettersOfAFormatAreAllListed() throws {
        let rows = try rows(after: "| letters | or |")
        let listed = rows.flatMap { $0[0] }
        let others = rows.flatMap { $0[1] }
        for pattern in listed + others { #expect(isForm(pattern), "\(pattern)") }
        let letters = (UInt8(ascii: "A")...UInt8(ascii: "z")).map { Character(Unicode.Scalar($0)) }.filter(\.isLetter)
        for letter in letters {
            #expect(isForm("%\(letter)") == listed.contains("%\(letter)"), "%\(letter)")
            #expect(isForm(String(letter)) == others.contains { $0.first == letter }, "\(letter)")
        }
    }

    @Test func datesWithoutAFormatAreOfTheFormsListed() throws {
        let examples = try rows(after: "| form | examples |").flatMap { $0[1] }
        #expect(examples.count > 10)
        for example in examples {
            let bytes = Array(example.utf8)
            #expect(bytes.withUnsafeBufferPointer { Lexical.date($0) } != nil, "\(example)")
        }
    }
}
