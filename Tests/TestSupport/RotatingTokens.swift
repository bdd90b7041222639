import FeedModel
import Foundation

/// A token server that takes each refresh token once, and a feed that takes the access tokens that it has issued.
package final class RotatingTokens: Sendable {
    private struct State {
        var current = "first-refresh"
        var count = 1
        var issued: Set<String> = []
        var sent: [String] = []
    }

    private let state = Mutex(State())
    private let feed: String

    /// - Parameter feed: the body of the feed.
    package init(feed: String) { self.feed = feed }

    /// The refresh tokens that were sent, in order. The first one in force is `first-refresh`; later ones are numbered from 2:
    /// `refresh-number-2`.
    package var sent: [String] { state.withLock { $0.sent } }

    /// Puts another token in force, as after a new login.
    package func logIn(_ token: String) { state.withLock { $0.current = token } }

    /// Answers at `/token` and `/a`.
    ///
    /// - Parameters:
    ///   - rotates: false if a refresh token stays.
    ///   - beforeAnswer: called when the next refresh token is in force.
    package func install(
        on server: StubServer, rotates: Bool = true, beforeAnswer: @escaping @Sendable () -> Void = {}
    ) {
        server.route("/token") { [self] request in
            let fields = URLComponents(string: "?" + request.body)?.queryItems ?? []
            let answer = answer(to: fields, rotates: rotates)
            beforeAnswer()
            let body = (try? JSONEncoder().encode(answer.fields)) ?? Data()
            return StubServer.response(answer.status, String(decoding: body, as: UTF8.self))
        }
        server.route("/a") { [self] request in
            let token = request.headers["authorization"].map { String($0.dropFirst("Bearer ".count)) } ?? ""
            return state.withLock { $0.issued.contains(token) }
                ? StubServer.response(200, feed) : StubServer.response(401, "")
        }
    }

    private func answer(to fields: [URLQueryItem], rotates: Bool) -> (status: Int, fields: [String: String]) {
        let token = fields.first { $0.name == "refresh_token" }?.value ?? ""
        return state.withLock { state in
            state.sent.append(token)
            guard token == state.current, fields.contains(.init(name: "grant_type", value: "refresh_token")) else {
                return (400, ["error": "invalid_grant", "error_description": "\(token) is not in force"])
            }
            state.count += 1
            let access = "access-number-\(state.count)"
            state.issued.insert(access)
            guard rotates else { return (200, ["access_token": access]) }
            state.current = "refresh-number-\(state.count)"
            return (200, ["access_token": access, "refresh_token": state.current])
        }
    }
}
