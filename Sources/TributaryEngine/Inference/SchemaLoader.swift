import FeedConfiguration
import FeedFetching
import FeedInferring
import FeedModel
import FeedParsing
import Foundation

/// Reads an XML Schema with the documents that it includes and imports, each once.
///
/// Addresses are relative to the document that names them. A document of a server may name public addresses and that
/// server, but no file. An import that cannot be read is noted; any other such document is an error.
struct SchemaLoader {
    /// Fetches one document, and passes it to its handler.
    typealias Reading =
        (_ url: URL, AddressProvenance?, _ handler: SchemaDocument) async throws -> Exchange

    /// The most documents of one schema, and the most bytes of all.
    static let mostDocuments = 1_000
    static let mostBytes = 64 << 20

    private struct Place: Hashable {
        var url: URL
        var adopter: String?
    }

    /// A document that has not been read yet.
    private struct Waiting {
        var place: Place
        var isPart = true
        var provenance: AddressProvenance?
        /// The address of the document that names it.
        var namer: URL?
    }

    /// - Parameters:
    ///   - url: the address of the schema.
    ///   - read: fetches and parses a document, and returns the exchange.
    /// - Throws: the errors of `read`, with the address of a named document; ``InferenceError``.
    static func load(
        _ url: URL, isolation: isolated (any Actor)? = #isolation, _ read: Reading
    ) async throws -> SchemaSet {
        let set = SchemaSet(location: url.isFileURL ? url.lastPathComponent : url.absoluteString)
        var waiting = [Waiting(place: Place(url: url, adopter: nil))]
        var known: Set = [waiting[0].place]
        var next = 0
        while next < waiting.count {
            let current = waiting[next]
            next += 1
            let document = SchemaDocument(adopter: current.place.adopter)
            let exchange: Exchange
            do {
                exchange = try await read(current.place.url, current.provenance, document)
            } catch let error as CancellationError {
                throw error
            } catch {
                guard let namer = current.namer else { throw error }
                let reason = ErrorText.words(error)
                if current.isPart {
                    throw InferenceError(
                        description:
                            "\(namer.lastPathComponent) includes \(current.place.url.absoluteString): \(reason)")
                }
                set.skip(current.place.url.absoluteString, because: reason)
                continue
            }
            set.add(document)
            let base = URL(string: exchange.response.url) ?? current.place.url
            for reference in document.references {
                guard let target = URL(string: reference.location, relativeTo: base)?.absoluteURL else {
                    set.skip(reference.location, because: "this is no address")
                    continue
                }
                let place = Place(url: target, adopter: reference.adopter)
                guard known.insert(place).inserted else { continue }
                guard !target.isFileURL || base.isFileURL else {
                    throw InferenceError(
                        description: "\(base.absoluteString) names the file \(target.path), which is refused: "
                            + "a document of a server may name addresses only")
                }
                guard waiting.count < mostDocuments else {
                    throw InferenceError(description: "the schema consists of more than \(mostDocuments) documents")
                }
                let namer = "the schema \(base.lastPathComponent)"
                waiting.append(
                    Waiting(
                        place: place, isPart: reference.isPart,
                        provenance: exchange.provenance(namer) ?? (target.isFileURL ? nil : .unknown(namer)),
                        namer: base))
            }
        }
        set.complete()
        return set
    }
}
