/// The progress of a run, reported from time to time while it downloads.
public struct RunProgress: Sendable {
    public var source: String
    public var request: String
    /// The request's position in the stack, counted from 1.
    public var requestNumber: Int
    public var requestCount: Int
    /// Bytes received, before decompression.
    public var bytes: Int
    /// Bytes announced by the server, if it announced any.
    public var totalBytes: Int?
    /// Rows staged by the request.
    public var rows: Int
}
