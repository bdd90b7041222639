import FeedModel
import FeedStaging
import FeedStores
import Foundation

/// A column that staged values are sent to, each in the form that its type reads.
struct CopiedColumn {
    private enum Form {
        case integer, bytes, uuid, other
    }

    var name: String
    /// True to write NULL for an empty text.
    let emptyIsNull: Bool
    private let form: Form

    /// - Parameter typeName: as PostgreSQL's catalog has it.
    init(name: String, typeName: String, emptyIsNull: Bool = false) {
        self.name = name
        self.emptyIsNull = emptyIsNull
        form =
            switch typeName {
            case "int2", "int4", "int8": .integer
            case "bytea": .bytes
            case "uuid": .uuid
            default: .other
            }
    }

    @inline(__always)
    func write(_ integer: Int64, to copy: some StagedRowWriter) throws {
        guard form == .bytes else { return copy.append(integer) }
        try write(text: Array(integer.description.utf8), to: copy)
    }

    func write(_ double: Double, to copy: some StagedRowWriter) throws {
        if form == .integer, let integer = Int64(exactly: double) { return copy.append(integer) }
        guard form == .bytes else { return copy.append(double) }
        try write(text: Array(double.description.utf8), to: copy)
    }

    private func write(text: [UInt8], to copy: some StagedRowWriter) throws {
        try text.withUnsafeBytes { try write(text: $0, to: copy) }
    }

    /// - Throws: ``ValueProblem``.
    @inline(__always)
    func write(text: UnsafeRawBufferPointer, to copy: some StagedRowWriter) throws {
        if form == .bytes { return copy.append(hex: text, isBytea: true) }
        guard copy.append(text: text) else { throw ValueProblem(column: name, reason: .holdsNUL) }
    }

    /// - Throws: ``ValueProblem`` if the type holds no bytes.
    func write(blob: UnsafeRawBufferPointer, to copy: some StagedRowWriter) throws {
        guard form == .bytes || (form == .uuid && blob.count == 16) else {
            throw ValueProblem(column: name, reason: .isBlob)
        }
        copy.append(hex: blob, isBytea: form == .bytes)
    }

    /// A staged value that PostgreSQL cannot hold.
    struct ValueProblem: Error {
        enum Reason {
            case holdsNUL, isBlob

            var description: String {
                switch self {
                case .holdsNUL: "holds U+0000, which no text of PostgreSQL's can hold"
                case .isBlob: "is bytes, and the column's type is not bytea"
                }
            }
        }

        var column: String
        var reason: Reason

        var description: String { "the value of column '\(column)' \(reason.description)" }
    }
}
