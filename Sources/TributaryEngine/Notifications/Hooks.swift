import FeedConfiguration
import FeedFetching
import FeedModel
import FeedStores
import Foundation
import Logging

/// The hooks of a daemon, each with a delivery of its own.
///
/// An actor on its own queue, because a slow store blocks the queue's thread.
actor Hooks {
    private struct Delivery {
        var hook: HookDeclaration
        var delivery: HookDelivery
        var task: Task<Void, Never>
    }

    /// The most counted runs of a hook's lag.
    private static let mostRunsCounted = 10_000

    private let environment: RunEnvironment
    private let executor: RunExecutor
    /// nil without a hook.
    private var webhooks: WebhookClient?
    private let reloads: AsyncStream<TributaryConfiguration>
    private let continuation: AsyncStream<TributaryConfiguration>.Continuation
    /// The current configuration, whose secrets are removed from the output of programs.
    private nonisolated let configuration: Mutex<TributaryConfiguration>
    /// The queues that count the lags of hooks. A hook that cannot deliver stays at its position.
    private let lagging = Mutex<[String: HookQueue]>([:])
    /// The current deliveries, for runs that have ended.
    private let alarmed = Mutex<[HookDelivery]>([])
    private var deliveries: [String: Delivery] = [:]

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ environment: RunEnvironment) {
        self.environment = environment
        executor = environment.serialExecutor("hooks")
        configuration = Mutex(environment.configuration)
        (reloads, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Notes that a run has ended.
    nonisolated func note(_ report: RunReport) {
        guard HookDecision.mayNotify(report) else { return }
        for delivery in alarmed.withLock(\.self) { delivery.alarm() }
    }

    /// Notes that a failed event is to be sent again at once.
    nonisolated func note(retryOf name: String) {
        for delivery in alarmed.withLock(\.self) where delivery.name == name { delivery.alarm() }
    }

    /// Applies a new configuration. Deliveries of unchanged hooks continue.
    nonisolated func reload(_ configuration: TributaryConfiguration) { continuation.yield(configuration) }

    /// Returns the lag of each hook, by name. For one caller, whose thread it blocks.
    nonisolated func lags(now: Date) throws -> [String: HookLag] {
        let former = lagging.withLock(\.self)
        var queues: [String: HookQueue] = [:]
        let lags = try alarmed.withLock(\.self).reduce(into: [String: HookLag]()) { lags, delivery in
            let (hook, passed) = (delivery.hook, delivery.passed)
            guard var state = try environment.store.read({ try $0.hooks.state(of: hook.name) }) else { return }
            var lag = HookLag(failures: state.attempts)
            // The position after runs without an event is not stored each time.
            if passed > state.position { (state.position, state.step) = (passed, 0) }
            var queue =
                try former[hook.name].flatMap { $0.stands(for: state, of: hook) ? $0 : nil }
                ?? HookQueue(hook, environment.store, state: state)
            let unsent = try queue.countUnsent(limit: Self.mostRunsCounted)
            lag.runs = unsent.count
            lag.seconds = unsent.first.map { max(0, now.timeIntervalSince($0.finishedAt)) } ?? 0
            lags[hook.name] = lag
            queues[hook.name] = queue
        }
        lagging.withLock { $0 = queues }
        return lags
    }

    /// Declares new hooks in the store. They receive the events of later runs, so no run may begin before this.
    ///
    /// - Throws: `StoreError`.
    func prepare() throws { try register(environment.configuration) }

    /// Runs until the task is cancelled.
    func run() async {
        await apply(environment.configuration)
        for await configuration in reloads {
            self.configuration.withLock { $0 = configuration }
            // Before the declaration: a delivery that declares its hook again must know the new ones.
            for known in deliveries.values { known.delivery.reload(configuration) }
            declare(configuration)
            await apply(configuration)
        }
        await stop(deliveries.keys.sorted())
        // No request is in progress, so errors of idle connections do not matter.
        try? await webhooks?.shutdown()
    }

    private func register(_ configuration: TributaryConfiguration) throws {
        for name in try environment.store.declareHooks(Set(configuration.hooks.map(\.name))) {
            environment.logger.notice("The hook '\(name)' is no longer declared; its position is deleted")
        }
    }

    /// Declares the hooks of a reload. One that cannot be declared now is declared by its delivery, later.
    private func declare(_ configuration: TributaryConfiguration) {
        do {
            try register(configuration)
        } catch {
            environment.logger.error(
                "New hooks cannot be registered", metadata: ["error": "\(environment.shown("\(error)"))"])
        }
    }

    private func apply(_ configuration: TributaryConfiguration) async {
        let environment = environment.with(configuration)
        let declared = Dictionary(uniqueKeysWithValues: configuration.hooks.map { ($0.name, $0) })
        await stop(deliveries.values.filter { declared[$0.hook.name] != $0.hook }.map(\.hook.name))
        guard !declared.isEmpty else { return alarmed.withLock { $0 = [] } }
        let webhooks = self.webhooks ?? environment.makeWebhookClient()
        self.webhooks = webhooks
        let sender = HookSender(
            webhooks: webhooks, clock: environment.clock, threads: environment.threads
        ) { [self] text in
            self.environment.with(self.configuration.withLock(\.self)).redacted(text)
        }
        for hook in configuration.hooks where deliveries[hook.name] == nil {
            let delivery = HookDelivery(hook, environment, sender)
            deliveries[hook.name] = Delivery(hook: hook, delivery: delivery, task: Task { await delivery.run() })
        }
        let all = deliveries.values.map(\.delivery)
        alarmed.withLock { $0 = all }
    }

    private func stop(_ names: [String]) async {
        let stopped = names.compactMap { deliveries.removeValue(forKey: $0) }
        for delivery in stopped { delivery.task.cancel() }
        for delivery in stopped { await delivery.task.value }
    }
}
