package import XMLStream

/// A value of a response that later requests of the stack may use, as `${capture:NAME}`.
public struct CaptureDeclaration: Sendable, Hashable {
    public package(set) var name: String
    /// The path of the value, from the root of the document.
    var path: XMLPath
    package var written: String

    package init(name: String, path: XMLPath, written: String) {
        self.name = name
        self.path = path
        self.written = written
    }
}
