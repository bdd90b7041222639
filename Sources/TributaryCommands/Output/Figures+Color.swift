import FeedModel
import TributaryEngine

extension Figures {
    static func color(_ outcome: RunOutcome) -> Terminal.Color {
        switch outcome {
        case .committed: .green
        case .unchanged, .fresh: .gray
        case .discarded: .red
        case .cancelled: .yellow
        }
    }
}
