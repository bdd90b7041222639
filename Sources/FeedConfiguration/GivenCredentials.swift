package import FeedModel
import Foundation

/// The headers and the bearer token of a request that no configuration declares: those of a command's options.
///
/// Where the request is shown, a variable stands for each secret that was given itself.
package struct GivenCredentials: Sendable {
    /// The headers, with the text that a declaration has.
    package private(set) var headers: [String: InterpolatedText] = [:]
    package private(set) var bearer: InterpolatedText?
    /// The names of the variables that stand for secrets.
    package private(set) var variables: [String] = []
    package private(set) var redactor = Redactor()

    package init() {}

    /// - Parameters:
    ///   - headers: the headers, each as `NAME: VALUE`.
    ///   - folder: the folder of the files that `${file:PATH}` names.
    /// - Throws: ``Finding``, without the values.
    package init(
        headers lines: [String], bearer token: String?, environment: [String: String], folder: String
    ) throws(Finding) {
        let interpolation = Interpolation(environment: environment, folder: folder)
        for line in lines {
            guard let colon = line.firstIndex(of: ":") else {
                throw Finding("a header has no colon", help: "write \"NAME: VALUE\"")
            }
            let name = line[..<colon].trimmingCharacters(in: .whitespaces)
            guard headers[name] == nil else { throw Finding("the header '\(name)' is given twice") }
            let isSecret = LiteralSecrets.isSecret(TOMLKeyPath().appending("headers", name))
            headers[name] = try value(
                line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces), isSecret: isSecret,
                variable: name, interpolation)
        }
        if let problem = headers.headerProblems.first { throw Finding(problem) }
        if let token { bearer = try value(token, isSecret: true, variable: "token", interpolation) }
        if let problem = authentication?.problem { throw problem }
        guard bearer == nil || !headers.keys.contains(where: { $0.lowercased() == "authorization" }) else {
            throw Finding("there are a bearer token and a header 'Authorization'", help: "give one of them")
        }
        redactor = Redactor(secrets: interpolation.secrets)
    }

    private var authentication: Authentication? { bearer.map { .bearer($0) } }

    /// Reads a value.
    ///
    /// - Parameter name: the text from which the name of a variable is made.
    private mutating func value(
        _ template: String, isSecret: Bool, variable name: String, _ interpolation: Interpolation
    ) throws(Finding) -> InterpolatedText {
        var text = try interpolation.interpolate(template, isSecret: isSecret)
        guard !text.isDynamic else {
            throw Finding("a value has a reference that only a declared request can have", help: "write ${NAME}")
        }
        guard isSecret, !template.isEmpty, !template.contains("${") else { return text }
        interpolation.hide(text.value)
        var variable = String(name.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
        while variables.contains(variable) { variable += "_" }
        variables.append(variable)
        text.template = "${\(variable)}"
        return text
    }

    /// True without any header and token.
    package var isEmpty: Bool { headers.isEmpty && bearer == nil }

    /// Adds them to a request.
    package func add(to request: inout RequestDeclaration) {
        request.headers = request.headers.replacingHeaders(with: headers)
        request.authentication = authentication
    }
}
