import FeedConfiguration
import FeedDeclarations
import Foundation
import Locking

/// What the configuration's file says of a source, without secrets.
struct SourceText: Sendable {
    var file: String
    var lines: [DeclarationLines.Line]
    /// The lines of `[defaults]`.
    var defaults: [DeclarationLines.Line]
    /// Why there are no lines.
    var note: String?
}

/// The lines of the configuration's file, read once for each version of the file.
final class SourceTexts: Sendable {
    private struct Version: Equatable {
        var modified: Date?
        var size: UInt64?
        var inode: UInt64?
    }

    private struct State {
        var version: Version?
        var lines: Result<DeclarationLines, any Error>?
    }

    private let state = Mutex(State())

    /// Returns the lines of a source; blocks its thread where the file has changed.
    func text(of source: SourceDeclaration, in configuration: TributaryConfiguration) -> SourceText {
        let name = URL(fileURLWithPath: configuration.file).lastPathComponent
        do {
            let found = try lines(configuration.file)
            let literal = source.literalRedactor()
            func shown(_ lines: [DeclarationLines.Line]) -> [DeclarationLines.Line] {
                lines.map { line in
                    let text = literal.redact(configuration.redactor.redact(LiteralSecrets.redact(line: line.text)))
                    return DeclarationLines.Line(number: line.number, text: text)
                }
            }
            let lines = shown(found.lines(of: source.name))
            return SourceText(
                file: name, lines: lines, defaults: shown(found.defaults),
                note: lines.isEmpty
                    ? "The file no longer declares this source; its declaration stays active until a reload." : nil)
        } catch {
            return SourceText(
                file: name, lines: [], defaults: [], note: configuration.redactor.redact("\(error)"))
        }
    }

    /// Reads the lines of the configuration's file; blocks its thread.
    func readLines(of configuration: TributaryConfiguration) { _ = try? lines(configuration.file) }

    private func lines(_ file: String) throws -> DeclarationLines {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file)
        let version = attributes.map {
            Version(
                modified: $0[.modificationDate] as? Date, size: $0[.size] as? UInt64,
                inode: $0[.systemFileNumber] as? UInt64)
        }
        return try state.withLock { state in
            if let lines = state.lines, version != nil, state.version == version { return lines }
            let lines = Result { try DeclarationLines(file: file) }
            state = State(version: version, lines: lines)
            return lines
        }.get()
    }
}
