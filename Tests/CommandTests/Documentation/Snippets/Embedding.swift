import Foundation
import GRDB
import Logging
import ServiceLifecycle
import Tributary
import UnixSignals

/// Refreshes all sources once, and returns how each run ended.
func refreshOnce(file: String, logger: Logger) async throws -> [RunReport] {
    let parsers = ParserRegistry([.class(StationsParser.self), .record(Food.self, element: "food")])
    let service = try SyncService(
        configuration: TributaryConfiguration(file: file, parsers: parsers), parsers: parsers, logger: logger)
    defer { try? service.close() }
    return try await service.sync(mode: .force)
}

/// Runs the engine beside a program's other services, until the program stops.
func runBeside(_ others: [any Service], file: String, logger: Logger) async throws {
    let parsers = ParserRegistry([.class(StationsParser.self)])
    let service = try SyncService(
        configuration: TributaryConfiguration(file: file, parsers: parsers), parsers: parsers, logger: logger)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            for await report in service.outcomes where report.outcome == .committed {
                logger.info("\(report.source): \(report.counts.inserted) new rows")
            }
        }
        let services = ServiceGroup(
            services: [service] + others, gracefulShutdownSignals: [.sigterm], logger: logger)
        try await services.run()
        group.cancelAll()
    }
}

/// Calls `body` with the number of stations now, and at each commit that changes it.
func observeStations(
    of service: SyncService, _ body: @escaping @Sendable (Int) -> Void
) throws -> AnyDatabaseCancellable? {
    guard let reader = service.reader else { return nil }
    let observation = ValueObservation.tracking { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM station") ?? 0 }
    return observation.start(in: reader, scheduling: .async(onQueue: .main), onError: { _ in }, onChange: body)
}
