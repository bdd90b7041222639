import Foundation

extension FileHandle {
    /// Writes a text for people. Where nobody reads it any more, or a log's disk is full, the work goes on without it.
    func show(_ text: String) { try? write(contentsOf: Data(text.utf8)) }
}
