import ArgumentParser
import FeedConfiguration
import FeedFetching
import FeedModel
import Foundation
import TributaryEngine

/// What is done with hooks.
struct HookCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hook", abstract: "Send test events to hooks.", subcommands: [HookTestCommand.self])

    @OptionGroup var options: GlobalOptions

    func run() throws { throw Failure.usage("'hook' needs a subcommand: `tributary hook test HOOK`") }
}

struct HookTestCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Send one event to a hook, marked as a test, and show the result.",
        discussion: """
            Example:
              tributary hook test chat
            """)

    @OptionGroup var options: GlobalOptions

    @Argument(help: "The hook's name.", completion: DeclaredNames.hooks)
    var name: String

    @OptionGroup var output: JSONOption

    func run(_ program: Program) async throws {
        let configuration = try program.configuration(options)
        guard let hook = configuration.hooks.first(where: { $0.name == name }) else {
            let names = configuration.hooks.map { "'\($0.name)'" }.joined(separator: ", ")
            throw Failure.usage(
                "there is no hook '\(name)' in \(configuration.file)" + (names.isEmpty ? "" : "; there are \(names)"))
        }
        let source = configuration.enabledSources.first { hook.concerns($0.name) }?.name
        let event = HookEvent(
            id: "msg_test_\(UUID().uuidString.lowercased())", kind: .test, hook: hook.name, source: source, time: Date()
        )
        let began = ContinuousClock.now
        let webhooks = WebhookClient()
        let outcome: HookOutcome
        do {
            outcome = try await untilSignalled {
                try await HookSender(
                    webhooks: webhooks, clock: SystemClock(), redact: configuration.redactor.redact
                ).send(event, to: hook)
            }
            try await webhooks.shutdown()
        } catch {
            try? await webhooks.shutdown()
            throw error
        }
        let seconds = (ContinuousClock.now - began).seconds
        var (answer, error): (String?, String?)
        switch outcome {
        case .delivered(let text): answer = text
        case .failed(let text, _), .gone(let text): error = configuration.redactor.redact(text)
        }
        let object: JSONObject = [
            "hook": hook.name, "id": event.id, "delivered": error == nil, "answer": answer, "error": error,
            "seconds": seconds,
        ]
        try output.show(object) {
            [
                answer.map { "\(hook.name): delivered (\($0)) in \(Figures.seconds(seconds))" }
                    ?? "\(hook.name): not delivered: \(error ?? "")"
            ]
        }
        guard error == nil else { throw ExitCode(1) }
    }
}
