import Foundation

/// The time that the plots of a source show.
enum Period: String, CaseIterable {
    case day, week, all

    var name: String {
        switch self {
        case .day: "Day"
        case .week: "Week"
        case .all: "All"
        }
    }

    /// - Parameter first: the time of the first run.
    func start(now: Date, first: Date?) -> Date {
        switch self {
        case .day: now - 86_400
        case .week: now - 7 * 86_400
        case .all: min(first ?? now, now - 3_600)
        }
    }
}
