import Foundation

/// Keywords and values as libpq takes them. A later one stands above an earlier one.
struct ConnectionParameters {
    private let pairs: [(String, String)]

    init(_ pairs: [(String, String)]) { self.pairs = pairs }

    typealias Pointers = UnsafePointer<UnsafePointer<CChar>?>

    func withPointers<Value>(_ body: (Pointers, Pointers) -> Value) -> Value {
        let copies = pairs.flatMap { [strdup($0.0), strdup($0.1)] }
        defer { for copy in copies { free(copy) } }
        let keywords = stride(from: 0, to: copies.count, by: 2).map { copies[$0].map { UnsafePointer($0) } } + [nil]
        let values = stride(from: 1, to: copies.count, by: 2).map { copies[$0].map { UnsafePointer($0) } } + [nil]
        return keywords.withUnsafeBufferPointer { keywords in
            // Each ends with a nil, so neither is empty.
            values.withUnsafeBufferPointer { body(keywords.baseAddress!, $0.baseAddress!) }
        }
    }
}
