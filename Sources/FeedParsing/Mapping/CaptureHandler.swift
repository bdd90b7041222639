import FeedModel
package import XMLStream

/// Takes the first value that is not empty at each of the given paths from the root. It works beside other parsers of
/// the document.
package final class CaptureHandler: XMLStreamHandler {
    /// The most bytes of the elements whose whole text is being gathered, nested ones counted together.
    static let gatheredLimit = MappingHandler.collectedLimit

    /// An open element whose text is wanted with that of all its descendants.
    private struct Open {
        let path: Int
        let depth: Int
        let start: Int
    }

    private let paths: [XMLPath]
    /// The values found, by the position of their path.
    package private(set) var values: [Int: String] = [:]
    private var open: [Open] = []
    /// The text of the open elements, each byte once.
    private var gathered: [UInt8] = []
    /// The bytes of each open element's own text that `gathered` has already, by depth.
    private var taken: [Int] = []

    package init(_ paths: [XMLPath]) {
        self.paths = paths
        super.init()
    }

    package override func didStartElement(in stream: XMLStreamParser) throws {
        if !open.isEmpty {
            try gather(stream.textBytes(atDepth: stream.depth - 1), depth: stream.depth - 1, stream)
            begin(depth: stream.depth)
        }
        for (index, path) in paths.enumerated() where isWanted(index) && matches(path, stream) {
            switch path.target {
            case .attribute(let test):
                values[index] =
                    stream.attributesOfElement.withValue(of: test) { String(decoding: $0, as: UTF8.self) }
                    ?? values[index]
            case .deepText:
                open.append(Open(path: index, depth: stream.depth, start: gathered.count))
                begin(depth: stream.depth)
                stream.keepsIndentation = true
            case .text:
                break
            }
        }
    }

    package override func didEndElement(in stream: XMLStreamParser) throws {
        for (index, path) in paths.enumerated() where path.target == .text && isWanted(index) {
            if matches(path, stream) { values[index] = String(decoding: trimmed(stream.textBytes), as: UTF8.self) }
        }
        guard !open.isEmpty else { return }
        try gather(stream.textBytes, depth: stream.depth, stream)
        while let last = open.last, last.depth == stream.depth {
            open.removeLast()
            gathered.withUnsafeBufferPointer {
                let text = trimmed(UnsafeBufferPointer(rebasing: $0[last.start...]))
                if isWanted(last.path) { values[last.path] = String(decoding: text, as: UTF8.self) }
            }
        }
        guard open.isEmpty else { return }
        gathered = []
        stream.keepsIndentation = false
    }

    /// True while nothing, or only an empty value, has been found at a path.
    private func isWanted(_ path: Int) -> Bool { values[path]?.isEmpty ?? true }

    private func begin(depth: Int) {
        while taken.count <= depth { taken.append(0) }
        taken[depth] = 0
    }

    private func gather(_ text: UnsafeBufferPointer<UInt8>, depth: Int, _ stream: XMLStreamParser) throws {
        // Elements around the outermost wanted one are not gathered.
        guard let outermost = open.first, depth >= outermost.depth, text.count > taken[depth] else { return }
        gathered.append(contentsOf: text[taken[depth]...])
        taken[depth] = text.count
        guard gathered.count <= Self.gatheredLimit else {
            throw MappingError(
                "line \(stream.line): an element that capture or page takes whole, by string(…), has more than "
                    + "\(ByteSize.text(Self.gatheredLimit)) of text")
        }
    }

    private func matches(_ path: XMLPath, _ stream: XMLStreamParser) -> Bool {
        guard path.steps.count == stream.depth else { return false }
        return path.steps.enumerated().allSatisfy { index, step in
            step.test.matches(stream.name(atDepth: index + 1))
                && stream.attributes(atDepth: index + 1).satisfy(step.predicates)
        }
    }
}
