import Foundation
@testable import FeedConfiguration
@testable import FeedParsing
@testable import TributaryEngine
@testable import XMLStream

/// Dates in any format, read and written again. The first line of an input is the format.
final class DateTarget: FuzzTarget {
    func run(_ input: [UInt8]) throws -> Bool {
        let end = input.firstIndex(of: 0x0A) ?? input.count
        let pattern = String(decoding: input[..<end], as: UTF8.self)
        var isTaken = try check(Array(input.dropFirst(end + 1)), format: nil)
        if let format = DateFormat(pattern) {
            isTaken = try check(Array(input.dropFirst(end + 1)), format: pattern) || isTaken
            for seconds in [0, -1, 951_782_400, 253_402_300_799, -62_135_596_800] as [Double] {
                _ = format.text(Date(timeIntervalSince1970: seconds))
            }
        }
        return isTaken
    }

    private func check(_ text: [UInt8], format: String?) throws -> Bool {
        let converters = [ValueType.date, .datetime].map { ValueConverter($0, format: format) }
        var isTaken = false
        for converter in converters where converter.converts(String(decoding: text, as: UTF8.self)) { isTaken = true }
        let date = text.withUnsafeBufferPointer { bytes in
            format.flatMap { DateFormat($0) }.map { $0.date(bytes) } ?? Lexical.date(bytes)
        }
        guard let date else { return isTaken }
        guard date.timeIntervalSince1970.isFinite else { throw FuzzFinding("a date that is not finite") }
        var written = Lexical.iso8601(date)
        let again = written.withUTF8 { Lexical.date($0) }
        let isOrdinary = (-62_167_219_200..<253_402_300_799).contains(date.timeIntervalSince1970)
        guard !isOrdinary || abs((again ?? .distantPast).timeIntervalSince(date)) < 0.001 else {
            throw FuzzFinding("the date is stored as \(written), which reads as \(again.map { "\($0)" } ?? "nothing")")
        }
        return true
    }
}
