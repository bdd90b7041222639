import ArgumentParser
import AsyncHTTPClient
import FeedConfiguration
import FeedFetching
import Foundation
import NIOCore
import NIOHTTP1

/// Asks the running daemon whether it is well, as `/healthz` tells it.
struct HealthcheckCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "healthcheck", abstract: "Ask the running daemon whether it is healthy.",
        discussion: """
            For containers and supervisors. Uses the address of '[daemon] health', or else of '[daemon] listen'. Exit \
            status: 0 healthy; 1 not healthy or no response, with the reason; 78 no address is declared.

            Example:
              tributary healthcheck
            """)

    /// The most bytes of an answer that are shown.
    private static let shownLimit = 4_096

    @OptionGroup var options: GlobalOptions

    func run(_ program: Program) async throws {
        let file = options.configurationFile
        let declared = try TributaryConfiguration.healthAddress(
            file: file, parsers: program.parsers, environment: ProcessInfo.processInfo.environment)
        guard let address = declared, address.port != 0 else {
            throw Failure.configuration(
                "\(file): no address is declared for health checks; add health = \"127.0.0.1:8091\" to "
                    + "[daemon], or listen")
        }
        let url = "http://\(Self.reachable(address))/healthz"
        var settings = HTTPClient.Configuration()
        // A refused connection is an answer.
        settings.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
        let answer: Result<(status: HTTPResponseStatus, text: String), any Error>
        do {
            let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(5))
            answer = .success((response.status, try await Self.text(of: response.body)))
        } catch {
            answer = .failure(error)
        }
        try await client.shutdown()
        switch answer {
        case .success((.ok, let text)): try Terminal.print(TerminalLine(text))
        case .success((let status, let text)): throw Failure.failed("\(url): \(status.code): \(text)")
        case .failure(let error): throw Failure.failed("\(url): the daemon does not answer: \(ErrorText.words(error))")
        }
    }

    /// Returns the address at which a daemon is reached that listens at every address.
    private static func reachable(_ address: ListenAddress) -> String {
        switch address.host {
        case "0.0.0.0": "127.0.0.1:\(address.port)"
        case "::": "[::1]:\(address.port)"
        default: address.description
        }
    }

    private static func text(of body: HTTPClientResponse.Body) async throws -> String {
        var bytes = ByteBuffer()
        for try await part in body {
            bytes.writeImmutableBuffer(part)
            if bytes.readableBytes >= shownLimit { break }
        }
        return String(decoding: bytes.readableBytesView.prefix(shownLimit), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
