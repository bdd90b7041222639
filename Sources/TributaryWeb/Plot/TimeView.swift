import Foundation

/// A time as the templates show it: our script turns it into words such as "3 min ago".
struct TimeView: Sendable {
    let iso: String
    let text: String

    init(_ date: Date) {
        iso = date.formatted(.iso8601)
        text = String(iso.prefix(16)).replacing("T", with: " ") + " UTC"
    }
}
