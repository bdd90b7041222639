/// A path of elements or an attribute that no mapping uses, or a column that found nothing.
package struct UnmatchedPath: Sendable, Encodable {
    package var request: String
    package var path: String
    package var count: Int

    package init(request: String, path: String, count: Int) {
        self.request = request
        self.path = path
        self.count = count
    }
}
