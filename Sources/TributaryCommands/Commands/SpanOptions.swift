import ArgumentParser
import FeedConfiguration
import FeedModel

/// The options of `sync` and `plan` that name the span of a source with `slices`.
struct SpanOptions: ParsableArguments {
    @Option(name: .long, help: "With one source that has slices: load from this day or time.")
    var from: String?

    @Option(name: .long, help: "With one source that has slices: load up to this day or time.")
    var to: String?

    var isGiven: Bool { from != nil || to != nil }

    /// Returns the configuration in which the source loads a given span; nil without one.
    ///
    /// - Throws: ``Failure`` if it cannot.
    func loading(_ sources: [String], in configuration: TributaryConfiguration) throws -> TributaryConfiguration? {
        guard isGiven else { return nil }
        guard let source = sources.first, sources.count == 1 else {
            throw Failure.usage("--from and --to need the name of one source")
        }
        do {
            let first = try from.map { try SliceDeclaration.bound($0, "--from").date }
            let last = try to.map { try SliceDeclaration.bound($0, "--to").date }
            if let first, let last, last < first { throw Failure.usage("--to is earlier than --from") }
        } catch let problem as Finding {
            throw Failure.usage("\(problem)")
        }
        guard let loading = configuration.loading(SliceDeclaration.Given(from: from, to: to), of: source) else {
            throw Failure.usage("no request of the source '\(source)' has 'slices', which --from and --to need")
        }
        return loading
    }
}
