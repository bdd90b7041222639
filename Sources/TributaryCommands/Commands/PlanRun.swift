import ArgumentParser
import FeedDeclarations
import FeedModel
import FeedStores
import Foundation
import Logging
import Synchronization
import TributaryEngine
import TributaryStores

/// Shows what a run of a source would change: what `plan` and `replay --plan` have in common.
struct PlanRun {
    let configuration: TributaryConfiguration
    let source: SourceDeclaration
    /// The changes to show of a table and kind; 0 for all.
    let limit: Int
    let json: Bool

    /// - Parameter plan: makes the plan, and calls what it is given with each change.
    /// - Throws: the exit status 2 where there is a difference.
    func run(
        _ program: Program,
        _ plan: (SyncService, @escaping @Sendable (PlannedChange) throws -> Void) async throws -> StackPlan
    ) async throws {
        var configuration = configuration
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "tributary-plan-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        if try isPrepared(program) {
            configuration.schemaPath = nil
            configuration.schemaAfterPath = nil
        } else {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let copy = folder.appendingPathComponent("store.sqlite").path
            if try configuration.hasStore() { try configuration.openExistingStore()?.copy(nil, to: copy) }
            configuration.store = .file(copy)
        }
        let report = Mutex(PlanReport(limit: limit))
        let made: StackPlan
        do {
            let service = try program.service(
                configuration, logger: Logger(label: "tributary") { _ in ConsoleLogHandler() })
            made = try await plan(service) { change in report.withLock { $0.add(change) } }
        } catch let error as StoreError {
            throw error
        } catch {
            throw Failure.failed(
                "\(source.name): the run would be discarded: \(configuration.redactor.redact("\(error)"))")
        }
        let finished = report.withLock { $0 }
        if json {
            Terminal.print(try JSONOutput.line(PlanOutput(source: source.name, plan: made, report: finished)))
        } else {
            for line in finished.lines(made, on: Terminal()) { Terminal.print(line) }
        }
        if made.differs { throw ExitCode(2) }
    }

    /// Returns true if the store exists, with every table that the source writes.
    private func isPrepared(_ program: Program) throws -> Bool {
        guard try configuration.hasStore(), let store = try configuration.openExistingStore() else { return false }
        defer { try? store.close() }
        return try source.requests.allSatisfy { try $0.isPrepared(in: store, parsers: program.parsers) }
    }
}
