import FeedModel
package import XMLStream

/// Takes the first value that is not empty at each of the given paths from the root. It works beside other handlers of
/// the document.
package final class CaptureHandler: XMLStreamHandler {
    /// The most bytes of the elements whose whole text is being gathered, nested ones counted together.
    static let gatheredLimit = MappingHandler.wholeLimit

    private let paths: [XMLPath]
    /// The values found, by the position of their path.
    package private(set) var values: [Int: String] = [:]
    /// The open elements that are wanted with all their descendants, each with the position of its path.
    @exclusivity(unchecked) private var whole = WholeElements<Int>()
    /// True for each name of the document with which a path ends, by the name's number. Most elements need no more work.
    @exclusivity(unchecked) private var isLast: [Bool] = []

    package init(_ paths: [XMLPath]) {
        self.paths = paths
        super.init()
    }

    package override func didStartElement(in stream: XMLStreamParser) throws {
        if !whole.isEmpty {
            whole.start(in: stream)
            try check(stream)
        }
        guard endsPath(stream) else { return }
        for (index, path) in paths.enumerated() where isWanted(index) && matches(path, stream) {
            switch path.target {
            case .attribute(let test):
                values[index] =
                    stream.attributesOfElement.withValue(of: test) { String(decoding: $0, as: UTF8.self) }
                    ?? values[index]
            case .deepText:
                whole.begin(index, in: stream)
            case .text:
                break
            }
        }
    }

    package override func didEndElement(in stream: XMLStreamParser) throws {
        if endsPath(stream) {
            for (index, path) in paths.enumerated() where path.target == .text && isWanted(index) {
                if matches(path, stream) { values[index] = String(decoding: trimmed(stream.textBytes), as: UTF8.self) }
            }
        }
        guard !whole.isEmpty else { return }
        whole.end(in: stream)
        try check(stream)
        whole.deliver(in: stream) { text, path in
            if isWanted(path) { values[path] = String(decoding: text, as: UTF8.self) }
        }
    }

    /// Returns true if a path ends with the name of the current element.
    private func endsPath(_ stream: XMLStreamParser) -> Bool {
        let number = Int(stream.nameIndex)
        while isLast.count <= number {
            let name = stream.attributesOfElement.name(Int32(isLast.count))
            isLast.append(paths.contains { $0.steps.last?.test.matches(name) ?? false })
        }
        return isLast[number]
    }

    /// True while nothing, or only an empty value, has been found at a path.
    private func isWanted(_ path: Int) -> Bool { values[path]?.isEmpty ?? true }

    private func check(_ stream: XMLStreamParser) throws {
        guard whole.count <= Self.gatheredLimit else {
            throw MappingError(
                "line \(stream.line): an element that capture, page or until takes whole, by string(…), has more than "
                    + "\(ByteSize.text(Self.gatheredLimit)) of text")
        }
    }

    private func matches(_ path: XMLPath, _ stream: XMLStreamParser) -> Bool {
        let base = stream.depth - path.steps.count
        guard path.isAnywhere ? base >= 0 : base == 0 else { return false }
        return path.steps.enumerated().allSatisfy { index, step in
            step.test.matches(stream.name(atDepth: base + index + 1))
                && stream.attributes(atDepth: base + index + 1).satisfy(step.predicates)
        }
    }
}
