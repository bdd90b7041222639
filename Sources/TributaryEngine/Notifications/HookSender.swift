package import FeedConfiguration
package import FeedFetching
package import FeedModel
package import Foundation

/// The result of an attempt to deliver an event.
package enum HookOutcome: Sendable, Equatable {
    /// The receiver accepted it; the text describes its answer.
    case delivered(String)
    /// The attempt failed. The next one follows after a back-off, and not before the requested time.
    case failed(String, retryAt: Date? = nil)
    /// The receiver answered 410, and receives no further events.
    case gone(String)
}

/// Sends one event to a hook's receiver, once.
package struct HookSender: Sendable {
    private let webhooks: WebhookClient
    private let clock: any RunClock
    private let threads: any WorkThreads
    private let redact: @Sendable (String) -> String

    /// - Parameter redact: removes secrets from the output of a program.
    package init(
        webhooks: WebhookClient, clock: any RunClock, threads: any WorkThreads = SystemThreads(),
        redact: @escaping @Sendable (String) -> String
    ) {
        self.webhooks = webhooks
        self.clock = clock
        self.threads = threads
        self.redact = redact
    }

    /// - Throws: `CancellationError`
    package func send(_ event: HookEvent, to hook: HookDeclaration) async throws -> HookOutcome {
        let body: Data
        do { body = try event.body() } catch { return .failed("the event cannot be written as JSON: \(error)") }
        switch hook.receiver {
        case .program(let command): return try await run(command, body, hook.timeout)
        case .address(let address, let secret):
            do {
                let answer = try await webhooks.post(
                    body, id: event.id, to: address, secret: secret, timeout: hook.timeout, now: clock.now())
                return outcome(of: answer, address)
            } catch let error as FetchError {
                return .failed("\(error)")
            }
        }
    }

    private func outcome(of answer: WebhookClient.Answer, _ address: InterpolatedText) -> HookOutcome {
        switch answer.status {
        case 200..<300: .delivered("\(answer.status)")
        case 410: .gone("POST \(address) answered 410 Gone: it receives no more events")
        case 300..<400: .failed("POST \(address) answered \(answer.status): redirects are not followed")
        default: .failed("POST \(address) answered \(answer.status)", retryAt: answer.retryAt)
        }
    }

    private func run(_ command: [InterpolatedText], _ body: Data, _ timeout: Duration) async throws -> HookOutcome {
        let name = command[0].template
        let (ending, output): (ProgramRun.Ending, ProgramOutput)
        do {
            let run = try ProgramRun(command.map(\.value), input: body, timeout: timeout, clock, threads)
            (ending, output) = try await withTaskCancellationHandler {
                try await threads.run { try run.run() }
            } onCancel: {
                run.stop()
            }
        } catch {
            return .failed("\(name) cannot be started: \(ErrorText.words(error))")
        }
        if ending == .stopped { throw CancellationError() }
        if ending == .exited(0) { return .delivered("exit status 0") }
        let printed = output.text(redact)
        return .failed("\(name) \(Self.text(ending, timeout))" + (printed.isEmpty ? "" : ": \(printed)"))
    }

    private static func text(_ ending: ProgramRun.Ending, _ timeout: Duration) -> String {
        switch ending {
        case .exited(let status): "ended with status \(status)"
        case .signalled(let signal): "was ended by signal \(signal)"
        case .timedOut: "did not end within \(timeout.secondsText), and was killed"
        case .stopped: "was stopped"
        }
    }
}
