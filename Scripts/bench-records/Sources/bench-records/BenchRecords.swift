import Foundation
import Tributary
import XMLCoder

/// How long the same element takes to decode with Tributary and with XMLCoder: one element a call, and one document of
/// many. Prints microseconds per record, medians of five rounds.
@main
struct BenchRecords {
    static func main() throws {
        let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 2_000
        let elements = (0..<count).map { Array(Food.element($0).utf8) }
        let datas = elements.map { Data($0) }
        let document = Array(("<menu>" + (0..<count).map(Food.element).joined() + "</menu>").utf8)
        let documentData = Data(document)
        let records = XMLRecordDecoder()
        let coder = XMLDecoder()
        coder.dateDecodingStrategy = .iso8601
        for (element, data) in zip(elements, datas).prefix(10) {
            let (ours, theirs) = try (records.decode(Food.self, from: element), coder.decode(Food.self, from: data))
            precondition(ours == theirs, "the two decode different values")
        }

        let one = try median(count) {
            for element in elements { _ = try records.decode(Food.self, from: element) }
        }
        let oneCoder = try median(count) {
            for data in datas { _ = try coder.decode(Food.self, from: data) }
        }
        report("one element a call", one, oneCoder)

        let all = try median(count) {
            let foods = try records.decodeAll(Food.self, from: document)
            precondition(foods.count == count)
        }
        let allCoder = try median(count) {
            let menu = try coder.decode(Menu.self, from: documentData)
            precondition(menu.food.count == count)
        }
        report("one document of \(count)", all, allCoder)
    }

    /// Microseconds per record.
    private static func median(_ count: Int, _ body: () throws -> Void) rethrows -> Double {
        var rounds: [Double] = []
        for _ in 0..<5 {
            let taken = try ContinuousClock().measure(body)
            rounds.append(taken / .microseconds(1) / Double(count))
        }
        return rounds.sorted()[2]
    }

    private static func report(_ what: String, _ ours: Double, _ theirs: Double) {
        print(
            String(
                format: "%@: Tributary %.2f µs, XMLCoder %.2f µs per record: %.1f times as fast", what, ours, theirs,
                theirs / ours))
    }
}
