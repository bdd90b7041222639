package import FeedModel
package import Foundation
import XMLStream

/// The repetition of a request for each span of a time, `${slice:from}` to `${slice:to}`.
///
/// A span begins where the last one ends, so that no instant is left out, whether a server includes the end or not.
package struct SliceDeclaration: Sendable, Hashable {
    /// The names after `slice:`.
    package static let names = ["from", "to"]

    /// The beginning of the first span.
    package var from: InterpolatedText
    /// The end of the last span; nil for the beginning of the run.
    package var to: InterpolatedText?
    /// The length of a span.
    package var step: Duration
    /// The time before ``from`` at which the first span begins.
    package var overlap: Duration
    /// The bounds that a command gives in place of the declared ones.
    package var given = Given()

    package struct Given: Sendable, Hashable {
        package var from: String?
        package var to: String?

        package init(from: String? = nil, to: String? = nil) { (self.from, self.to) = (from, to) }
    }

    static let defaultStep = Duration.seconds(86_400)
    static let shortestStep = Duration.seconds(1)
    /// The most spans of a run.
    package static let most = 1_000

    /// A text that changes with the declared spans.
    var identity: String { "\(from.value)\u{1}\(to?.value ?? "")\u{1}\(step)\u{1}\(overlap)" }

    // MARK: - Spans

    /// Returns the spans, each with the values of ``names``.
    ///
    /// - Parameters:
    ///   - from: the value of ``from``.
    ///   - to: the value of ``to``; nil for `now`.
    ///   - zone: the zone of today.
    package func spans(
        from: String, to: String?, now: Date, zone: TimeZoneRules
    ) throws(Finding) -> [[String: String?]] {
        let (begin, isOfDays) = try Self.bound(from, "from")
        let end: Date
        if let to {
            let bound = try Self.bound(to, "to")
            guard bound.isDay == isOfDays else {
                throw Finding("'\(from)' and '\(to)' must both be days, or both times")
            }
            end = bound.date
        } else if isOfDays {
            let seconds = Int(now.timeIntervalSince1970.rounded(.down))
            let local = seconds + zone.offset(at: seconds)
            end = Date(timeIntervalSince1970: Double(local - local.quotientAndRemainder(flooringBy: 86_400).remainder))
        } else {
            end = now
        }
        if isOfDays { try checkDays(from) }
        let back = given.from == nil ? overlap : .zero
        var start = begin - back.seconds
        var spans: [[String: String?]] = []
        // A day may be asked for alone.
        while start < end || spans.isEmpty && isOfDays && start == end {
            guard spans.count < Self.most else {
                throw Finding(
                    "there are more than \(Self.most) spans; raise 'step', or load a part at a time")
            }
            let next = min(start + step.seconds, end)
            spans.append(["from": Self.text(start, isOfDays), "to": Self.text(next, isOfDays)])
            start = next
        }
        return spans
    }

    /// - Throws: ``Finding`` if days cannot be divided as declared.
    func checkDays(_ from: String) throws(Finding) {
        for (key, time) in [("step", step), ("overlap", overlap)] where time.components.seconds % 86_400 != 0 {
            throw Finding("'\(key)' must be in whole days, because '\(from)' is a day")
        }
    }

    /// Reads a day or a time.
    ///
    /// - Parameter name: what it is, for the error.
    package static func bound(_ text: String, _ name: String) throws(Finding) -> (date: Date, isDay: Bool) {
        guard !text.isEmpty else {
            throw Finding(
                "'\(name)' has no value yet; give the first one, as in ${last:coalesce(max(day), '2026-01-31')}")
        }
        var text = text
        guard let date = text.withUTF8({ Lexical.date($0) }) else {
            throw Finding(
                "'\(name)' is neither a day (2026-01-31) nor a time (2026-01-31T10:00:00Z): "
                    + "'\(text.shortened(to: 100))'")
        }
        return (date, text.utf8.count == "2026-01-31".utf8.count && text.utf8.contains(UInt8(ascii: "-")))
    }

    private static func text(_ date: Date, _ isDay: Bool) -> String {
        let whole = Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))
        return isDay ? Lexical.day(whole) : Lexical.iso8601(whole)
    }
}

extension SourceDeclaration {
    /// True if a run loads a span that was given to it, beside the runs that are due.
    package var loadsGivenSpan: Bool {
        requests.contains { request in
            guard case .slices(let slices) = request.forEach?.rows else { return false }
            return slices.given != SliceDeclaration.Given()
        }
    }
}

extension TributaryConfiguration {
    /// Returns the configuration in which the requests with `slices` of a source load a given span; nil if the source has
    /// none.
    package func loading(_ span: SliceDeclaration.Given, of name: String) -> TributaryConfiguration? {
        var configuration = self
        var isThere = false
        for position in sources.indices where sources[position].name == name {
            for index in sources[position].requests.indices {
                guard let forEach = sources[position].requests[index].forEach, case .slices(var slices) = forEach.rows
                else { continue }
                slices.given = span
                configuration.sources[position].requests[index].forEach?.rows = .slices(slices)
                configuration.sources[position].requests[index].derive()
                isThere = true
            }
        }
        return isThere ? configuration : nil
    }
}
