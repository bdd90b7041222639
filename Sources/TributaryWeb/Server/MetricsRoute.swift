import HTTPTypes
import Hummingbird
import NIOCore
import PrometheusMetrics
import TributaryEngine

/// `/metrics`: what Prometheus reads, in the format that it likes best.
struct MetricsRoute: Sendable {
    let service: SyncService
    let registry: PrometheusRegistry

    func add(to router: Router<some RequestContext>) {
        router.get("/metrics") { request, _ in
            service.refreshMetrics()
            let format = ExpositionFormat(accept: request.headers[values: .accept].joined(separator: ","))
            let exposition = registry.exposition(format)
            // Piece by piece: those of many thousand sources are megabytes.
            let body = ResponseBody { writer in
                for piece in exposition { try await writer.write(ByteBuffer(bytes: piece)) }
                try await writer.finish(nil)
            }
            return Response(status: .ok, headers: [.contentType: format.contentType, .vary: "Accept"], body: body)
        }
    }
}
