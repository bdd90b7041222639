import Foundation

/// A change in the form of a request's documents: a publisher has added or renamed something.
public struct Drift: Sendable, Equatable, Codable {
    /// The most names of one request in a run; ``omitted`` counts the others.
    package static let mostNames = 20

    /// The key of the request.
    public var request: String
    /// The paths of elements that no earlier document had, and that nothing maps.
    public var unmapped: [String]
    /// The columns, as `table.column`, that had values in earlier documents, and have none in any record now.
    public var empty: [String]
    /// The columns of which a record has several values for the first time. Only the first value counts.
    public var repeated: [String]
    public var omitted: Int

    package init(request: String, unmapped: [String], empty: [String], repeated: [String]) {
        self.request = request
        self.empty = Array(empty.prefix(Self.mostNames))
        self.repeated = Array(repeated.prefix(Self.mostNames - self.empty.count))
        self.unmapped = Array(unmapped.prefix(Self.mostNames - self.empty.count - self.repeated.count))
        omitted =
            unmapped.count + empty.count + repeated.count
            - (self.unmapped.count + self.empty.count + self.repeated.count)
    }

    /// A line for users.
    public var text: String {
        var parts: [String] = []
        if !unmapped.isEmpty { parts.append("new elements that nothing maps: \(unmapped.joined(separator: ", "))") }
        if !empty.isEmpty { parts.append("no record has a value for \(empty.joined(separator: ", "))") }
        if !repeated.isEmpty {
            let columns = repeated.joined(separator: ", ")
            parts.append("some records have several values for \(columns), and the first counts")
        }
        if omitted > 0 { parts.append("and \(omitted) more") }
        return "request '\(request)' has drifted: \(parts.joined(separator: "; "))"
    }
}

/// The paths and columns of one request's documents in one run.
package struct DocumentShape: Sendable, Equatable {
    /// The paths of the elements that are records, give a value, or hold an element that is or does.
    package var mapped: Set<String> = []
    /// The outermost elements that are none of these.
    package var unmapped: Set<String> = []
    /// The columns, as `table.column`, for which a record had a value, and those of tables with records for which none had.
    package var filled: Set<String> = []
    package var empty: Set<String> = []
    /// Those of which a record had more values than the first, which alone counts.
    package var repeated: Set<String> = []

    package init() {}

    /// Returns the shape with other paths.
    package func mappingPaths(_ body: (String) -> String) -> DocumentShape {
        var shape = self
        (shape.mapped, shape.unmapped) = (Set(mapped.map(body)), Set(unmapped.map(body)))
        return shape
    }

    /// Adds the shape of another document, as long as there are not more paths than a ``RequestShape`` remembers. Where
    /// names are data, each document has others.
    package mutating func formUnion(_ other: DocumentShape) {
        Self.add(other.mapped, to: &mapped)
        Self.add(other.unmapped, to: &unmapped)
        filled.formUnion(other.filled)
        empty.formUnion(other.empty)
        repeated.formUnion(other.repeated)
        unmapped.subtract(mapped)
        empty.subtract(filled)
    }

    /// Adds paths until there is one more than a ``RequestShape`` remembers, which shows that there are too many.
    private static func add(_ paths: Set<String>, to all: inout Set<String>) {
        let room = RequestShape.mostPaths + 1 - all.count
        guard room > 0 else { return }
        let new = paths.subtracting(all)
        // In order: the same documents have the same shape.
        all.formUnion(new.count <= room ? Array(new) : Array(new.sorted().prefix(room)))
    }
}

/// The paths and columns of a request's documents since its declaration last changed. Stored with the request's
/// state.
package struct RequestShape: Sendable, Equatable, Codable {
    /// The most paths that are remembered. Once there are so many, no path counts as new.
    package static let mostPaths = 300
    /// The most bytes of a path that is remembered.
    package static let longestPath = 300
    /// The number of consecutive documents with a value of a column before its absence is reported again.
    static let settled = 10

    /// The paths of elements that were seen, in order.
    private var elements: [String] = []
    /// The number of documents in a row, up to ``settled``, that had a value, by column.
    private var columns: [String: Int] = [:]
    /// The columns of which some record had several values, in order.
    private var repeated: [String] = []
    /// The number of pages of the last documents; nil if their request names no page in the body of another.
    package var pages: Int?

    /// - Returns: nil if the text is not that of a shape.
    package init?(text: String) {
        guard let shape = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else { return nil }
        self = shape
    }

    /// The shape as JSON, the same for equal ones.
    package var text: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }

    /// Creates the shape of a first document: all that it has counts as usual.
    package init(first document: DocumentShape) {
        remember(document.mapped.union(document.unmapped))
        for column in document.filled { columns[column] = Self.settled }
        repeated = document.repeated.sorted()
    }

    /// Adds a document.
    ///
    /// - Returns: its differences from earlier documents; nil without any.
    package mutating func take(_ document: DocumentShape, of request: String) -> Drift? {
        let isFull = elements.count >= Self.mostPaths
        let new = isFull ? [] : document.unmapped.subtracting(elements).filter { $0.utf8.count <= Self.longestPath }
        let empty = document.empty.filter { columns[$0] == Self.settled }
        remember(document.mapped.union(document.unmapped))
        for column in document.filled { columns[column] = min(Self.settled, (columns[column] ?? 0) + 1) }
        for column in document.empty where columns[column] != nil { columns[column] = 0 }
        let repeated = document.repeated.subtracting(repeated).sorted()
        self.repeated = (self.repeated + repeated).sorted()
        guard !new.isEmpty || !empty.isEmpty || !repeated.isEmpty else { return nil }
        return Drift(request: request, unmapped: new.sorted(), empty: empty.sorted(), repeated: repeated)
    }

    private mutating func remember(_ paths: Set<String>) {
        let new = paths.subtracting(elements).filter { $0.utf8.count <= Self.longestPath }.sorted()
        guard !new.isEmpty else { return }
        elements = (elements + new.prefix(max(0, Self.mostPaths - elements.count))).sorted()
    }
}
