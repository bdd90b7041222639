import HTTPTypes
import Hummingbird
import NIOCore
import TributaryEngine

/// `/metrics`: what Prometheus reads.
struct MetricsRoute: Sendable {
    let service: SyncService
    let registry: PrometheusRegistry

    func add(to router: Router<some RequestContext>) {
        router.get("/metrics") { _, _ in
            service.refreshMetrics()
            let exposition = registry.exposition()
            // Piece by piece: those of many thousand sources are megabytes.
            let body = ResponseBody { writer in
                for piece in exposition { try await writer.write(ByteBuffer(bytes: piece)) }
                try await writer.finish(nil)
            }
            return Response(status: .ok, headers: [.contentType: Exposition.contentType], body: body)
        }
    }
}

/// `/healthz`: 200 where the daemon does its work, 503 and what is wrong where it does not. That a feed fails is no matter
/// of it.
struct HealthRoute: Sendable {
    let service: SyncService
    /// Returns true if everyone on this machine may know where the store is; false if only those with the token may.
    let isOpen: @Sendable () -> Bool

    func add(to router: Router<some RequestContext>) {
        router.get("/healthz") { request, _ in
            let report = await service.health.report()
            // A page that has taken on this machine's address (DNS rebinding) reads the answer.
            let tellsDetails = isOpen() && request.namesThisMachine
            let problems = tellsDetails ? report.problems : report.kinds
            guard !problems.isEmpty else { return Response.text(.ok, "ok\n") }
            return Response.text(.serviceUnavailable, problems.joined(separator: "\n") + "\n")
        }
    }
}
