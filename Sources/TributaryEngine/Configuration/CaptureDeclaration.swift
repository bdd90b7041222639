import XMLStream

/// A value of a response that later requests of the stack may use, as `${capture:NAME}`.
public struct CaptureDeclaration: Sendable, Hashable {
    public internal(set) var name: String
    /// From the root of the document.
    var path: XMLPath
    var written: String
}
