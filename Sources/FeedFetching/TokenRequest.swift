import AsyncHTTPClient
import FeedConfiguration
import FeedModel
import Foundation
import NIOCore
import NIOHTTP1

/// A request for an access token (RFC 6749, sections 4.4.2, 5 and 6).
struct TokenRequest {
    let client: ClientCredentials
    /// The refresh token of the client's login; nil for the client-credentials grant.
    var refreshToken: String?

    private static let sizeLimit = 64 << 10
    private static let longestLife: TimeInterval = 365 * 86_400

    private struct Answer: Decodable {
        var access_token: String?
        var token_type: String?
        var expires_in: Seconds?
        var refresh_token: String?
        var error: String?
        var error_description: String?
    }

    /// Some servers write a number as a string.
    private struct Seconds: Decodable {
        var value: Double?

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Double.self) {
                value = number
            } else {
                value = (try? container.decode(String.self)).flatMap { Double($0) }
            }
        }
    }

    /// - Throws: ``FetchError`` if the declared address is invalid.
    func url() throws(FetchError) -> URL {
        do {
            return try WebAddress(client.tokenURL.value).url
        } catch {
            throw FetchError(.address, "\(client.tokenURL) cannot be used: \(error)")
        }
    }

    func message() -> HTTPClientRequest {
        var fields = client.parameters.mapValues(\.value)
        fields["grant_type"] = refreshToken == nil ? "client_credentials" : "refresh_token"
        fields["refresh_token"] = refreshToken
        fields["scope"] = client.scope?.value
        var message = HTTPClientRequest(url: client.tokenURL.value)
        message.method = .POST
        switch client.place {
        case .header:
            // Name and secret are form-encoded before they are joined (section 2.3.1).
            message.headers.add(
                name: "Authorization",
                value: HTTPTarget.basic(
                    client.clientID.value.percentEncoded, client.clientSecret.value.percentEncoded))
        case .body:
            fields["client_id"] = client.clientID.value
            // A client without a secret sends none (section 2.3.1).
            fields["client_secret"] = client.clientSecret.value.isEmpty ? nil : client.clientSecret.value
        }
        message.headers.add(name: "User-Agent", value: PreparedRequest.userAgent)
        message.headers.add(name: "Accept", value: "application/json")
        message.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
        message.body = .bytes(ByteBuffer(string: PreparedRequest.form(fields)))
        return message
    }

    /// - Throws: ``FetchError`` if the server issues no token; ``UnusableToken``.
    func token(from response: HTTPClientResponse, at origin: Origin, now: Date) async throws -> TokenStore.Token {
        do {
            return try await token(from: response, now: now)
        } catch var error as FetchError {
            error.wait = RequestedWait(response, of: origin, at: now)
            throw error
        }
    }

    private func token(from response: HTTPClientResponse, now: Date) async throws -> TokenStore.Token {
        let subject = "the token server \(client.tokenURL)"
        let body: ByteBuffer
        do {
            body = try await response.body.collect(upTo: Self.sizeLimit)
        } catch is NIOTooManyBytesError {
            throw FetchError(.tooLarge, "\(subject) answered with more than \(ByteSize.text(Self.sizeLimit))")
        }
        let status = Int(response.status.code)
        let answer = try? JSONDecoder().decode(Answer.self, from: Data(body.readableBytesView))
        if let error = answer?.error {
            let description = answer?.error_description.map { " (\($0))" } ?? ""
            if error == "invalid_grant", let login = client.login {
                throw FetchError(
                    .status, "\(subject) refused the refresh token: \(error)\(description); \(login.renewal)")
            }
            throw FetchError(
                .status,
                "\(subject) refused the client: \(error)\(description); check the request's 'oauth2'")
        }
        let next = answer?.refresh_token.flatMap { $0.isEmpty ? nil : $0 }
        do {
            return try token(from: answer, status: status, next: next, now: now)
        } catch {
            throw next.map { UnusableToken(error: error, nextRefreshToken: $0) } ?? error
        }
    }

    private func token(
        from answer: Answer?, status: Int, next: String?, now: Date
    ) throws(FetchError) -> TokenStore.Token {
        let subject = "the token server \(client.tokenURL)"
        guard status == 200 else {
            throw FetchError(
                .status, "\(subject) answered \(HTTPReason.text(status)), where 200 was expected")
        }
        guard let answer, let value = answer.access_token, !value.isEmpty else {
            throw FetchError(.decoding, "\(subject) answered without an 'access_token' in JSON")
        }
        guard value.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw FetchError(.decoding, "\(subject) issued a token with characters that no header can hold")
        }
        guard answer.token_type.map({ $0.lowercased() == "bearer" }) ?? true else {
            throw FetchError(.decoding, "\(subject) issued a token that is not of the type Bearer")
        }
        return TokenStore.Token(
            value: value,
            // An infinite lifetime, or one of more than a year, becomes a year.
            expires: answer.expires_in?.value.map { seconds in
                now + (seconds.isFinite ? min(max(seconds, 0), Self.longestLife) : Self.longestLife)
            }, nextRefreshToken: next)
    }
}

/// The error of an answer with a token that cannot be used, and with the refresh token that takes the place of the sent one.
package struct UnusableToken: Error {
    package let error: FetchError
    package let nextRefreshToken: String
}
