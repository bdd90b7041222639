import NIOHTTP1

enum HTTPReason {
    /// The standard phrase of a status: `Not Found`.
    static func phrase(_ status: Int) -> String { HTTPResponseStatus(statusCode: status).reasonPhrase }
}
