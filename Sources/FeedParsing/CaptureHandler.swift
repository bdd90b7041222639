package import XMLStream

/// Takes the first value at each of the given paths from the root. It works beside other parsers of the document.
package final class CaptureHandler: XMLStreamHandler {
    private let paths: [XMLPath]
    /// The values found, by the position of their path.
    package private(set) var values: [Int: String] = [:]

    package init(_ paths: [XMLPath]) {
        self.paths = paths
        super.init()
    }

    package override func didStartElement(in stream: XMLStreamParser) {
        for (index, path) in paths.enumerated() where values[index] == nil && matches(path, stream) {
            guard case .attribute(let test) = path.target else { continue }
            values[index] = stream.attributesOfElement.withValue(of: test) { String(decoding: $0, as: UTF8.self) }
        }
    }

    package override func didEndElement(in stream: XMLStreamParser) {
        for (index, path) in paths.enumerated() where values[index] == nil && matches(path, stream) {
            if case .attribute = path.target { continue }
            values[index] = String(decoding: trimmed(stream.textBytes), as: UTF8.self)
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
