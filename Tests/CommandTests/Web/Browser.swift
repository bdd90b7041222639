import Foundation
import TestSupport
import Testing

/// Chromium without a window, driven as W3C's WebDriver says, by Debian's `chromium-driver`.
final class Browser: Sendable {
    struct Failure: Error, CustomStringConvertible { var description: String }

    static let driverPath = "/usr/bin/chromedriver"
    static var isInstalled: Bool {
        [driverPath, "/usr/bin/chromium"].allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }
    }

    private let process: RunningProgram
    private let driver: PageClient
    private let session: String

    private init(_ process: RunningProgram, _ driver: PageClient, _ session: String) {
        self.process = process
        self.driver = driver
        self.session = session
    }

    /// Runs a body with a browser, which is gone after it with all its processes.
    static func with(_ body: (Browser) async throws -> Void) async throws {
        try await withTemporaryFolder { (folder) async throws in
            let program = BuiltProgram(path: driverPath, environment: ["PATH": "/usr/bin:/bin", "HOME": folder.path])
            let (process, lines, port) = try await startDriver(program)
            // It does not end at SIGTERM. Its browser has ended with the session.
            defer { process.signal(SIGKILL) }
            let rest = Task { for await _ in lines {} }
            defer { rest.cancel() }
            let options: [String: Any] = [
                "binary": "/usr/bin/chromium",
                "args": [
                    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                    "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
                    "--user-data-dir=\(folder.file("profile"))",
                ],
            ]
            let driver = PageClient(port: port)
            let made = try await ask(
                "POST", driver, "/session",
                ["capabilities": ["alwaysMatch": ["browserName": "chrome", "goog:chromeOptions": options]]])
            guard let session = (made as? [String: Any])?["sessionId"] as? String else {
                throw Failure(description: "no session: \(made)")
            }
            let browser = Browser(process, driver, session)
            do {
                try await body(browser)
            } catch {
                _ = try? await browser.command("DELETE", "")
                throw error
            }
            _ = try await browser.command("DELETE", "")
        }
    }

    /// Starts chromedriver. The kernel gives it a port of IPv6, and it ends if another program has the same one of IPv4.
    private static func startDriver(
        _ program: BuiltProgram
    ) async throws -> (RunningProgram, AsyncStream<String>, port: Int) {
        var output: [String] = []
        for _ in 0..<10 {
            let process = try program.start(["--port=0"])
            let lines = process.outputLines
            for await line in lines {
                output.append(line)
                guard let match = line.firstMatch(of: /successfully on port (\d+)/), let port = Int(match.1) else {
                    continue
                }
                return (process, lines, port)
            }
            process.signal(SIGKILL)
        }
        throw Failure(description: "chromedriver did not start: \(output.joined(separator: "\n"))")
    }

    private static func ask(_ method: String, _ driver: PageClient, _ path: String, _ body: [String: Any]?) async throws
        -> Any
    {
        let text =
            try body.map { String(decoding: try JSONSerialization.data(withJSONObject: $0), as: UTF8.self) } ?? ""
        let headers = ["Content-Type": "application/json", "Content-Length": "\(text.utf8.count)"]
        let answer = try await driver.send(method, path, headers, body: text)
        let object = try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any]
        let value = object?["value"] ?? NSNull()
        if let error = value as? [String: Any], let message = error["message"] as? String, error["error"] != nil {
            throw Failure(description: message)
        }
        return value
    }

    @discardableResult
    func command(_ method: String, _ path: String, _ body: [String: Any]? = nil) async throws -> Any {
        try await Self.ask(method, driver, "/session/\(session)\(path)", body ?? (method == "POST" ? [:] : nil))
    }

    func open(_ url: String) async throws { try await command("POST", "/url", ["url": url]) }

    func resize(width: Int, height: Int = 900) async throws {
        // The window's own frame is not the page's, so the device is told.
        try await command(
            "POST", "/goog/cdp/execute",
            [
                "cmd": "Emulation.setDeviceMetricsOverride",
                "params": ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500],
            ])
    }

    /// Returns what a script returns.
    @discardableResult
    func run(_ script: String) async throws -> Any {
        try await command("POST", "/execute/sync", ["script": script, "args": [Any]()])
    }

    func text(_ script: String) async throws -> String { "\(try await run("return " + script))" }

    /// - Parameter keys: characters, or WebDriver's names of keys.
    func type(_ keys: String) async throws {
        let actions = keys.flatMap {
            [["type": "keyDown", "value": String($0)], ["type": "keyUp", "value": String($0)]]
        }
        try await command(
            "POST", "/actions", ["actions": [["type": "key", "id": "keys", "actions": actions]]])
    }

    static let tab = "\u{E004}"
    static let enter = "\u{E007}"

    func element(_ selector: String) async throws -> String {
        let value = try await command("POST", "/element", ["using": "css selector", "value": selector])
        guard let id = (value as? [String: String])?.values.first else {
            throw Failure(description: "no element '\(selector)'")
        }
        return id
    }

    func elements(_ selector: String) async throws -> [String] {
        let value = try await command("POST", "/elements", ["using": "css selector", "value": selector])
        return (value as? [[String: String]])?.compactMap(\.values.first) ?? []
    }

    func click(_ selector: String) async throws { try await command("POST", "/element/\(element(selector))/click") }

    /// What a screen reader says of an element: its role and its name, as the browser computes them.
    func role(_ element: String) async throws -> String {
        "\(try await command("GET", "/element/\(element)/computedrole"))"
    }

    func label(_ element: String) async throws -> String {
        "\(try await command("GET", "/element/\(element)/computedlabel"))"
    }

    /// The nodes of the page's accessibility tree that a screen reader comes to, in their order: role, name, and a heading's level.
    func accessibilityTree() async throws -> [(role: String, name: String, level: Int)] {
        let answer = try await command(
            "POST", "/goog/cdp/execute", ["cmd": "Accessibility.getFullAXTree", "params": [String: String]()])
        let nodes = (answer as? [String: Any])?["nodes"] as? [[String: Any]] ?? []
        func value(_ field: Any?) -> Any? { (field as? [String: Any])?["value"] }
        let known = Dictionary(nodes.map { ($0["nodeId"] as? String ?? "", $0) }) { first, _ in first }
        var found: [(role: String, name: String, level: Int)] = []
        func visit(_ node: [String: Any]) {
            if node["ignored"] as? Bool != true {
                let properties = node["properties"] as? [[String: Any]] ?? []
                let level = properties.first { $0["name"] as? String == "level" }.flatMap { value($0["value"]) as? Int }
                found.append((value(node["role"]) as? String ?? "", value(node["name"]) as? String ?? "", level ?? 0))
            }
            for child in node["childIds"] as? [String] ?? [] { known[child].map(visit) }
        }
        nodes.first.map(visit)
        return found
    }

    func screenshot(_ file: String) async throws {
        guard let text = try await command("GET", "/screenshot") as? String, let data = Data(base64Encoded: text) else {
            return
        }
        try data.write(to: URL(fileURLWithPath: file))
    }

    /// Waits until a script is true.
    func wait(_ what: String, _ script: String) async throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while try await text(script) != "1" {
            guard .now < deadline else {
                throw Failure(description: "\(what): not within 30 s; \(try await text("document.body.innerText"))")
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}
