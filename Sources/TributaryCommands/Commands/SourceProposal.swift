import ArgumentParser
import FeedConfiguration
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
    let options: DocumentOptions
    /// What else the request for the document sends.
    let credentials: GivenCredentials

    /// True where the configuration's file is absent or empty, as where a shell has just created it for the proposal.
    var isFirst: Bool {
        let size = (try? FileManager.default.attributesOfItem(atPath: file))?[.size] as? Int
        return size ?? 0 == 0
    }

    /// - Throws: ``Failure``.
    func make() async throws -> MappingProposal {
        for file in [document, schema].compactMap(\.self) { try Self.requireFile(file) }
        let declared = DeclaredTables(file: file)
        if let name = options.name, declared.names.contains(name) {
            throw Failure.usage("\(file) has a source '\(name)'; choose another name")
        }
        do {
            guard document == StandardInput.name else { return try await proposal(of: document, beside: declared) }
            return try await StandardInput.asFile { path in
                let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
                guard size != 0 else { throw Failure.failed("standard input is empty") }
                return try await proposal(of: path, beside: declared)
            }
        } catch let failure as Failure {
            throw failure
        } catch {
            let name = document ?? schema ?? ""
            let shown = name == StandardInput.name ? "standard input" : name
            var (error, isArchive) = (error, Self.archives.contains { name.lowercased().hasSuffix($0) })
            if var archive = error as? FetchError, archive.advice != nil {
                // It is for a declaration, and there is none yet.
                archive.advice = nil
                (error, isArchive) = (archive, true)
            }
            // An error of a response names its address.
            let words = ErrorText.words(error)
            let place = words.hasPrefix("GET \(name)") ? "" : "\(shown): "
            throw Failure.failed(
                credentials.redactor.redact(place + words).withoutUserInfo
                    + ((error as? DocumentError)?.isEncoding ?? false ? "; here, --encoding names it" : "")
                    + (isArchive ? "; infer reads no archives: unpack one of its documents, and give it that" : ""))
        }
    }

    /// Returns comments on the sources of the file that have the proposal's address, or the name that it would have.
    private func remarks(_ name: String, _ wish: String, same: [String]) -> [String] {
        if !same.isEmpty {
            let names = same.map { "'\($0)'" }.joined(separator: ", ")
            return ["\(file) has a source with this address, \(names): keep one of them."]
        }
        guard options.name == nil, name != wish else { return [] }
        return ["\(file) has another source '\(wish)'."]
    }

    /// The ends of the names of archives, and of files in compressions that only `documents` reads.
    private static let archives = [".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".bz2", ".xz", ".zst", ".lzma"]

    /// - Throws: ``Failure`` if a location is the path of a file that does not exist.
    private static func requireFile(_ location: String) throws {
        let isFile = location.lowercased().hasPrefix("file:")
        guard location != StandardInput.name, isFile || !location.contains("://") else { return }
        let path = isFile ? URL(string: location)?.path ?? location : location
        guard !FileManager.default.fileExists(atPath: path) else { return }
        throw Failure.usage(
            path.contains("*")
                ? "the file \(path) does not exist; infer reads one document: name one of the files, and write the pattern "
                    + "into the 'url' of the proposal"
                : "the file \(path) does not exist")
    }

    private func proposal(of location: String?, beside declared: DeclaredTables) async throws -> MappingProposal {
        // What standard input brings is at an address that has to be filled in.
        let isInput = document == StandardInput.name
        let address = isInput ? StandardInput.name : location ?? schema ?? ""
        let wish = isInput ? "feed" : SourceName.make(of: address)
        let name = options.name ?? declared.freeName(wish)
        var surroundings = Inference.Surroundings(name: name, takenTables: program.parsers.tables)
        surroundings.writtenTables = declared.tables
        surroundings.sources = declared.names
        surroundings.remarks =
            remarks(name, wish, same: isInput ? [] : declared.sources(at: address))
            + credentials.variables.map { "Set the environment variable \($0) to the secret that was given for it." }
        guard let location else {
            return try await Inference(of: schema ?? "").proposalOfSchema(root: root, surroundings)
        }
        if !options.mapping {
            for name in program.parsers.names {
                surroundings.parsers[name] = program.parsers.tables(of: .parser(name))
            }
        }
        var dialect = options.dialect
        if schema != nil { dialect.format = dialect.format ?? .xml }
        return try await Inference(
            of: location, dialect: dialect, address: isInput ? "https://example.com/\(name)" : nil,
            credentials: credentials
        ).proposal(surroundings, schema: schema)
    }
}
