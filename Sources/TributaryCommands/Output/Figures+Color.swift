import FeedModel
import TributaryEngine

extension Figures {
    static func color(_ outcome: RunOutcome) -> Terminal.Color {
        switch outcome {
        case .committed: .green
        case .unchanged, .notDue: .gray
        case .discarded, .blocked: .red
        case .cancelled: .yellow
        }
    }

    static func color(_ condition: SourceCondition) -> Terminal.Color {
        switch condition {
        case .ok: .green
        case .new, .off, .undeclared: .gray
        case .paused: .yellow
        case .blocked, .failing, .gone: .red
        }
    }
}
