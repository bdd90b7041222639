import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import XMLRecords
@testable import FeedConfiguration
@testable import FeedFetching
@testable import FeedInferring
@testable import FeedParsing
@testable import TributaryEngine
@testable import TributaryParsers
@testable import XMLStream

/// Reads inputs of one kind, as the program does.
protocol FuzzTarget: AnyObject {
    /// - Returns: whether the input was taken rather than refused.
    /// - Throws: ``FuzzFinding`` where the program does what it must never do.
    func run(_ input: [UInt8]) throws -> Bool
}

/// What an input has found.
struct FuzzFinding: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

extension FuzzTarget {
    /// Whether a step takes its input rather than refuse it.
    ///
    /// - Throws: ``FuzzFinding`` where it is refused with an error that is not one of ours: nobody could act on it.
    func accepts(_ step: () throws -> Void) throws -> Bool { try refusal(step) == nil }

    /// Why a step refuses its input; nil where it does not.
    func refusal(_ step: () throws -> Void) throws -> (any Error)? {
        do {
            try step()
            return nil
        } catch let error as FuzzFinding {
            throw error
        } catch {
            guard isOurs(error) else {
                throw FuzzFinding("the input is refused with a foreign error, \(type(of: error)): \(error)")
            }
            return error
        }
    }
}

private func isOurs(_ error: any Error) -> Bool {
    switch error {
    case let error as ParserError: isOurs(error.underlying)
    case is FetchError, is StackError, is DocumentError, is SOAPFault, is UnwritableValue, is XMLStreamError,
        is BindingError,
        is MappingError, is XMLRecordError, is StoreError,
        is ConfigurationError, is InferenceError, is UnexpectedRoot, is XMLPathParser.Problem:
        true
    default: false
    }
}

/// Hands bytes on in pieces of a size, or whole where there is none.
func forEachPiece(of bytes: [UInt8], size: Int?, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    try bytes.withUnsafeBytes { bytes in
        guard let size, size > 0 else { return try body(bytes) }
        var rest = bytes[...]
        while !rest.isEmpty {
            try body(UnsafeRawBufferPointer(rebasing: rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
    }
}
