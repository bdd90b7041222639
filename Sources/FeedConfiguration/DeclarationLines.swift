import FeedDeclarations
import TOML

/// The lines of `sources.toml` by what they declare, for those who look at one source.
package struct DeclarationLines: Sendable {
    package struct Line: Sendable, Equatable {
        /// Counted from 1.
        package var number: Int
        package var text: String

        package init(number: Int, text: String) {
            self.number = number
            self.text = text
        }
    }

    private let lines: [String]
    /// The numbers of the lines of each source, and of `[defaults]`, which has no name.
    private let numbers: [String?: [Int]]

    /// - Throws: ``ConfigurationError`` where the file cannot be read.
    package init(file: String) throws {
        let bytes: [UInt8]
        do {
            bytes = try ConfigurationFile.read(file)
        } catch {
            throw ConfigurationError(problems: [.init(file: file, message: "the file \(error.message)")])
        }
        do throws(TOMLError) {
            self.init(bytes, try TOMLParser.parse(bytes))
        } catch {
            throw ConfigurationError(problems: [
                .init(file: file, line: error.line, message: "this is not TOML: \(error.message)")
            ])
        }
    }

    private init(_ bytes: [UInt8], _ document: TOMLTable) {
        // By bytes: a file may have a hundred thousand lines.
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
        }
        self.lines = lines
        // Who owns a line: 0 nobody that is asked for, 1 the defaults, from 2 the sources.
        var names: [String?] = ["", nil]
        var owners = [Int?](repeating: nil, count: lines.count + 2)
        func mark(_ line: Int, _ owner: Int) { if owners.indices.contains(line) { owners[line] = owner } }
        func mark(all value: TOMLValue, _ owner: Int) {
            switch value {
            case .table(let table):
                for entry in table.entries {
                    mark(entry.node.line, owner)
                    mark(all: entry.node.value, owner)
                }
            case .array(let nodes):
                for node in nodes {
                    mark(node.line, owner)
                    mark(all: node.value, owner)
                }
            default: break
            }
        }
        for entry in document.entries {
            let owner = entry.key == "defaults" ? 1 : 0
            mark(entry.node.line, owner)
            guard entry.key == "sources", case .table(let sources) = entry.node.value else {
                mark(all: entry.node.value, owner)
                continue
            }
            for source in sources.entries {
                names.append(source.key)
                mark(source.node.line, names.count - 1)
                mark(all: source.node.value, names.count - 1)
            }
        }
        // A line without a value of its own belongs to what is above it; comments and empty lines to what is below.
        var numbers: [String?: [Int]] = [:]
        var last = 0
        var pending: [Int] = []
        for number in 1...max(lines.count, 1) where number <= lines.count {
            let first = lines[number - 1].utf8.first { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
            guard owners[number] == nil, first == nil || first == UInt8(ascii: "#") else {
                let owner = owners[number] ?? last
                // Comments within a block, or directly above it; empty lines only within.
                let above =
                    owner == last ? pending : Array(pending.reversed().prefix { !lines[$0 - 1].isEmpty }.reversed())
                numbers[names[owner], default: []] += above + [number]
                pending = []
                last = owner
                continue
            }
            pending.append(number)
        }
        self.numbers = numbers
    }

    /// The lines that declare a source.
    package func lines(of source: String) -> [Line] { lines(numbers[source] ?? []) }

    /// The lines of `[defaults]`, which every source inherits.
    package var defaults: [Line] { lines(numbers[String?.none] ?? []) }

    private func lines(_ numbers: [Int]) -> [Line] { numbers.map { Line(number: $0, text: lines[$0 - 1]) } }
}
