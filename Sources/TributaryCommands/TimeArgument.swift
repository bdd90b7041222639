import Foundation
import TributaryEngine

/// A point in time as an argument.
enum TimeArgument {
    /// - Throws: ``Failure`` naming the option.
    static func time(_ text: String, option: String) throws -> Date {
        guard let date = WrittenTime.date(text) else {
            throw Failure.usage("\(option) \(text): write the number of a run, or a time such as 2026-11-17T14:30Z")
        }
        return date
    }
}
