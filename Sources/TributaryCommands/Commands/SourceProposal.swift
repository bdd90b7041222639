import FeedConfiguration
import FeedDeclarations
import FeedFetching
import FeedInferring
import FeedParsing
import Foundation
import TributaryEngine

/// The proposal of a source for a document: what `infer` and `init` have in common.
struct SourceProposal {
    let program: Program
    /// The configuration's file. The proposal avoids the names of its sources and their tables.
    let file: String
    /// A file, a URL or `-`; nil where there is only a schema.
    var document: String?
    var schema: String?
    var root: String?
    var name: String?
    var format: BodyFormat?
    /// True for a mapping even where there is a parser for the document.
    var isMapping = false

    /// True where the configuration's file is absent or empty, as where a shell has just created it for the proposal.
    var isFirst: Bool {
        let size = (try? FileManager.default.attributesOfItem(atPath: file))?[.size] as? Int
        return size ?? 0 == 0
    }

    /// - Throws: ``Failure``.
    func make() async throws -> MappingProposal {
        do {
            guard document == StandardInput.name else { return try await proposal(of: document) }
            return try await StandardInput.asFile { try await proposal(of: $0) }
        } catch {
            let name = document ?? schema ?? ""
            let isArchive = Self.archives.contains { name.lowercased().hasSuffix($0) }
            throw Failure.failed(
                "\(name): \(ErrorText.words(error))".withoutUserInfo
                    + (isArchive ? "; infer reads no archives: unpack one of its documents, and give it that" : ""))
        }
    }

    /// The ends of the names of archives, and of files in compressions that only `documents` reads.
    private static let archives = [".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".bz2", ".xz", ".zst", ".lzma"]

    private func proposal(of location: String?) async throws -> MappingProposal {
        let declared = DeclaredTables(file: file)
        // What standard input brings is at an address that has to be filled in.
        let isInput = document == StandardInput.name
        let address = isInput ? StandardInput.name : location ?? schema ?? ""
        let name = name ?? declared.freeName(isInput ? "feed" : SourceName.make(of: address), for: address)
        var surroundings = Inference.Surroundings(name: name, takenTables: program.parsers.tables)
        surroundings.writtenTables = declared.tables(except: name)
        guard let location else {
            return try await Inference(of: schema ?? "").proposalOfSchema(root: root, surroundings)
        }
        if !isMapping {
            for name in program.parsers.names {
                surroundings.parsers[name] = program.parsers.tables(of: .parser(name))
            }
        }
        return try await Inference(
            of: location, format: format ?? (schema == nil ? nil : .xml),
            address: isInput ? "https://example.com/\(name)" : nil
        ).proposal(surroundings, schema: schema)
    }
}
