import FeedStaging

/// A line of CSV that is passed on once it is complete, so that it can be skipped if it is no record.
struct WaitingLine {
    /// The fields, one after another, and where each ends.
    private var fields: [UInt8] = []
    private var ends: [Int] = []
    /// The line's text in earlier pieces of the body, up to the length of a record that is kept.
    private var text: [UInt8] = []
    /// The piece that is being scanned, and where the line begins in it.
    private var piece = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    private var start = 0
    /// The position in the piece of the character that ends a field or the line.
    var place = 0
    /// What is wrong with the line.
    var problem: DocumentError?

    mutating func begin(_ piece: UnsafeBufferPointer<UInt8>) { (self.piece, start, place) = (piece, 0, 0) }

    mutating func beginLine(_ index: Int) {
        start = index
        text.removeAll(keepingCapacity: true)
        removeFields()
    }

    /// Ends the piece. Its memory is not used again.
    mutating func end(isWithinLine: Bool) {
        if isWithinLine { take(to: piece.count) }
        begin(UnsafeBufferPointer(start: nil, count: 0))
    }

    private mutating func take(to end: Int) {
        guard start < end else { return }
        text.append(contentsOf: piece[start..<end].prefix(RejectedRecords.longestRecord - text.count))
    }

    /// - Returns: false if the line is too long.
    mutating func add(_ field: UnsafeBufferPointer<UInt8>) -> Bool {
        guard fields.count + field.count <= CSVReader.fieldLimit else { return false }
        fields.append(contentsOf: field)
        ends.append(fields.count)
        return true
    }

    func forEachField(_ body: (_ column: Int, UnsafeBufferPointer<UInt8>) throws -> Void) throws {
        try fields.withUnsafeBufferPointer { all in
            var start = 0
            for (column, end) in ends.enumerated() {
                try body(column, UnsafeBufferPointer(rebasing: all[start..<end]))
                start = end
            }
        }
    }

    mutating func removeFields() {
        // A buffer that has grown long is released.
        fields.removeAll(keepingCapacity: fields.capacity <= 64 << 10)
        ends.removeAll(keepingCapacity: true)
    }

    /// Returns the line's text, and what is wrong with it; nil for a line that is a record.
    mutating func takeRejected() -> (text: String, problem: DocumentError)? {
        removeFields()
        guard let problem = problem.take() else { return nil }
        take(to: place)
        return (String(decoding: text, as: UTF8.self), problem)
    }
}
