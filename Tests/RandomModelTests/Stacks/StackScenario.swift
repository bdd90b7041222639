import TestStores
import TestSupport

/// A ``RandomStack`` with what its publisher shows, and what is done with the stores, round by round: everything that a seed decides, as
/// values, so that it can be played again with less.
struct StackScenario: Sendable, CustomStringConvertible {
    /// What is done after a round's commit.
    enum Extra: Sendable, CustomStringConvertible {
        case nothing
        /// The same documents once more.
        case again
        /// The kept bodies once more.
        case replay
        /// Back by so many commits.
        case undo(Int)
        /// The last documents into an empty store.
        case fresh
        /// Everything into another store of either kind.
        case move

        var description: String {
            switch self {
            case .nothing: "nothing"
            case .again: "sync again"
            case .replay: "replay"
            case .undo(let back): "undo \(back)"
            case .fresh: "import into an empty store"
            case .move: "move-store"
            }
        }
    }

    struct Round: Sendable {
        var document: RandomDocument
        var isPlanned: Bool
        var extra: Extra
    }

    let seed: UInt64
    let stack: RandomStack
    var rounds: [Round]

    init(seed: UInt64, rounds count: Int) {
        var random = SplitMix64(seed: seed)
        let stack = RandomStack(using: &random)
        self.seed = seed
        self.stack = stack
        rounds = []
        for _ in 0..<count {
            let document = RandomDocument(after: rounds.last?.document, of: stack, using: &random)
            let extras: [Extra] = [
                .nothing, .again, .replay, .fresh, .undo(Int.random(in: 1...2, using: &random)),
                random.oneIn(3) ? .move : .again,
            ]
            rounds.append(
                Round(
                    document: document, isPlanned: random.oneIn(2),
                    extra: extras.randomElement(using: &random) ?? .nothing))
        }
    }

    var description: String {
        var lines = ["seed \(seed): \(stack)", stack.toml(url: "URL"), stack.schema(for: .sqlite)]
        for (number, round) in rounds.enumerated() {
            lines.append("round \(number + 1): \(round.isPlanned ? "plan, " : "")sync, then \(round.extra)")
            lines += (stack.second == .absent ? ["a"] : ["a", "b"]).map {
                "  \($0): \(round.document.xml($0, of: stack))"
            }
        }
        return lines.joined(separator: "\n")
    }

    // MARK: - Shorter

    /// Drops rounds and records as long as the scenario fails.
    ///
    /// - Parameter plays: the most times that it is played.
    func shortened(_ failure: StackPlayer.Failure, plays: Int = 40) async throws -> (StackScenario, StackPlayer.Failure)
    {
        var best = (self, failure)
        var left = plays
        var isShorter = true
        while isShorter, left > 0 {
            isShorter = false
            for candidate in best.0.smaller where left > 0 {
                left -= 1
                guard let again = try await StackPlayer.failure(of: candidate) else { continue }
                best = (candidate, again)
                isShorter = true
                break
            }
        }
        return best
    }

    /// Every scenario with one round less, then every one with one record less.
    private var smaller: [StackScenario] {
        var all: [StackScenario] = []
        for index in rounds.indices.reversed() {
            var copy = self
            copy.rounds.remove(at: index)
            all.append(copy)
        }
        for index in rounds.indices {
            for part in 0..<4 {
                for number in 0..<rounds[index].document.count(of: part) {
                    var copy = self
                    copy.rounds[index].document.remove(number, of: part)
                    all.append(copy)
                }
            }
        }
        return all
    }
}

extension RandomDocument {
    fileprivate func count(of part: Int) -> Int { [items.count, extras.count, nodes.count, makers.count][part] }

    fileprivate mutating func remove(_ number: Int, of part: Int) {
        switch part {
        case 0: items.remove(at: number)
        case 1: extras.remove(at: number)
        case 2: nodes.remove(at: number)
        default: makers.remove(at: number)
        }
    }
}
