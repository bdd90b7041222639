import Foundation
import TestStores
import TestSupport
import Testing

/// The page in a real browser. Set TRIBUTARY_SCREENSHOTS to a folder to look at it.
@Suite(.enabled(if: Browser.isInstalled)) struct BrowserTests {
    private static let screenshots = ProcessInfo.processInfo.environment["TRIBUTARY_SCREENSHOTS"]

    /// The numbers that are not in one line.
    private static let brokenNumbers = """
        [...document.querySelectorAll('.number')].filter(cell => {
          const range = document.createRange();
          range.selectNodeContents(cell);
          return new Set([...range.getClientRects()].map(box => Math.round(box.top / 4))).size > 1
            && cell.getAttribute('role') == 'cell';
        }).map(cell => cell.innerText).join()
        """

    private func look(_ browser: Browser, _ name: String) async throws {
        for width in [360, 800, 920, 1400] {
            try await browser.resize(width: width)
            let script = "document.documentElement.scrollWidth <= \(width) ? 1 : document.documentElement.scrollWidth"
            #expect(try await browser.text(script) == "1", "\(name) is wider than \(width)")
            #expect(try await browser.text(Self.brokenNumbers) == "", "\(name) at \(width)")
            if let folder = Self.screenshots { try await browser.screenshot("\(folder)/\(name)-\(width).png") }
        }
    }

    @Test func aPersonSeesRefreshesAcceptsAndReleases() async throws {
        try await PageFixture.with { (fixture) async throws in
            try await Browser.with { (browser) async throws in
                let root = "http://\(fixture.page.authority)"
                try await browser.open(root)
                // A long time, as in a list of yesterday's runs.
                try await browser.resize(width: 900)
                try await browser.run(
                    "for (const small of document.querySelectorAll('time small')) small.textContent = 'Nov 25, 2026, 12:43\\u202fAM'"
                )
                #expect(try await browser.text("document.documentElement.scrollWidth <= 900 ? 1 : 0") == "1")
                #expect(try await browser.text("document.title") == "Sources · Tributary")
                try await look(browser, "sources")
                // Filled letter by letter; the list follows without another page.
                try await browser.click("#q")
                try await browser.type("rat")
                try await browser.wait(
                    "one is found", "document.querySelectorAll('#list .body [role=row]').length == 1 ? 1 : 0")
                #expect(try await browser.text("document.activeElement.id") == "q")
                #expect(try await browser.text("location.search") == "?q=rat")
                try await browser.click("#list .name a")
                #expect(try await browser.text("location.pathname") == "/sources/rates")

                // A run is followed live, without a reload.
                fixture.feeds.set("rates", PageFixture.items(1...4, title: "later"))
                try await browser.click("#refresh")
                try await browser.wait(
                    "the run is told", "document.querySelectorAll('#runs .body [role=row]').length == 2 ? 1 : 0")
                try await look(browser, "source")
                _ = try await browser.run("window.mark = 1")
                fixture.feeds.set("rates", PageFixture.items(1...1))
                _ = try await fixture.page.post("/sources/rates/refresh")
                try await browser.wait("a blocked run can be reviewed", "document.getElementById('review-run') ? 1 : 0")
                #expect(try await browser.text("window.mark") == "1")
                try await look(browser, "blocked")
                try await browser.click("#review-run")
                try await browser.wait("it is shown", "document.getElementById('accept') ? 1 : 0")
                #expect(
                    try await browser.text("document.getElementById('accept').innerText")
                        == "Delete 3 rows and update 1")
                try await look(browser, "blocked-run")
                try await browser.click("#accept")
                try await browser.wait(
                    "it is accepted", "document.querySelector('#state .badge').innerText.includes('ok') ? 1 : 0"
                )
                #expect(try fixture.store.rows("SELECT id FROM rates") == ["1"])
                _ = try await fixture.program.run("undo", "rates", "--yes")
                try await browser.open("\(root)/sources/rates")
                try await browser.wait("it can be resumed", "document.getElementById('resume') ? 1 : 0")
                try await browser.click("#resume")
                try await browser.wait("it is resumed", "document.getElementById('resume') ? 0 : 1")
                try await browser.wait(
                    "its rows are the feed's", "document.querySelectorAll('#runs .body [role=row]').length >= 5 ? 1 : 0"
                )

                fixture.feeds.set("rates", PageFixture.items(1...4, title: "newest"))
                _ = try await fixture.page.post("/sources/rates/refresh")
                try await fixture.wait("the newest titles are committed") {
                    try fixture.store.rows("SELECT DISTINCT title FROM rates") == ["newest"]
                }

                // What a run has changed, from what to what.
                let run = try fixture.store.rows(
                    "SELECT id FROM tributary_run WHERE source = 'rates' AND updated = 4")[0]
                try await browser.open("\(root)/sources/rates/runs/\(run)")
                try await browser.click("#changes summary")
                #expect(try await browser.text("document.querySelector('#changes .changed ins').innerText") == "later")
                try await look(browser, "run")

                // What an undo would do is looked at, and done.
                try await browser.click("#undo")
                try await browser.wait("it is shown", "document.getElementById('accept') ? 1 : 0")
                #expect(try await browser.text("document.querySelector('#accept').innerText").hasPrefix("Update "))
                try await look(browser, "review")
                try await browser.click("#accept")
                try await browser.wait(
                    "it is done", "document.querySelector('.done')?.innerText.includes('are restored') ? 1 : 0")
                try await browser.open("\(root)/sources/rates/runs/99999")
                try await look(browser, "error")
                try fixture.store.execute("ALTER TABLE rates ADD COLUMN price double precision DEFAULT 1234567.25")
                try await browser.open("\(root)/tables/rates")
                try await look(browser, "table")
                let row = try await browser.text("document.querySelector('.table.rows .name a').href")
                try await browser.click(".table.rows .name a")
                try await look(browser, "row")
                fixture.feeds.set("rates", PageFixture.items(2...4, title: "last"))
                _ = try await fixture.page.post("/sources/rates/refresh")
                try await fixture.wait("it is deleted") {
                    try fixture.store.rows("SELECT id FROM rates ORDER BY id") == ["2", "3", "4"]
                }
                try await browser.open(row)
                try await look(browser, "gone")
            }
        }
    }

    @Test func theAccessibilityTreeHasNamesHeadingsAndOneMain() async throws {
        try await PageFixture.with { (fixture) async throws in
            let run = try fixture.store.rows("SELECT min(id) FROM tributary_run WHERE source = 'rates'")[0]
            let table = try await fixture.page.get("/tables/rates").body
            let row = try #require(table.firstMatch(of: /<a href="(\/tables\/rates\/row\?key=[^"]+)"/)?.1, "\(table)")
            try await Browser.with { (browser) async throws in
                for path in [
                    "/", "/?q=nosuch", "/sources/rates", "/sources/rates/runs/\(run)", "/sources/rates/undo",
                    "/sources/rates/purge", "/tables", "/tables/rates?facet=title", String(row), "/daemon", "/try",
                    "/nosuch",
                ] {
                    try await browser.open("http://\(fixture.page.authority)\(path)")
                    try await browser.run("events?.close()")
                    let tree = try await browser.accessibilityTree()
                    let named = [
                        "link", "button", "textbox", "searchbox", "combobox", "checkbox", "heading", "image", "table",
                        "navigation", "region", "columnheader", "graphics-document", "progressbar",
                    ]
                    let unnamed = tree.filter { named.contains($0.role) && $0.name.isEmpty }
                    #expect(unnamed.isEmpty, "\(path): \(unnamed)")
                    #expect(tree.filter { $0.role == "main" }.count == 1, "\(path)")
                    let levels = tree.filter { $0.role == "heading" }.map(\.level)
                    #expect(levels.first == 1 && levels.filter { $0 == 1 }.count == 1, "\(path): \(levels)")
                    #expect(zip(levels, levels.dropFirst()).allSatisfy { $1 <= $0 + 1 }, "\(path): \(levels)")
                }
            }
        }
    }

    @Test func keyboardAndScreenReaderReachEverything() async throws {
        try await PageFixture.with { (fixture) async throws in
            fixture.feeds.set("rates", PageFixture.items(1...1))
            _ = try await fixture.page.post("/sources/rates/refresh")
            try await fixture.wait("the fuse") {
                try await fixture.page.get("/sources/rates").body.contains("id=\"review-run\"")
            }
            let run = try fixture.store.rows("SELECT min(id) FROM tributary_run WHERE source = 'rates'")[0]
            try await Browser.with { (browser) async throws in
                let controls = "a, button, input:not([type=hidden]), textarea, summary, [tabindex='0']"
                for path in [
                    "/", "/sources/rates", "/sources/rates/runs/\(run)", "/sources/rates/purge", "/daemon", "/try",
                ] {
                    try await browser.open("http://\(fixture.page.authority)\(path)")
                    // What is looked at stays.
                    try await browser.run("events?.close()")
                    #expect(try await browser.text("document.documentElement.lang") == "en")
                    #expect(try await browser.text("document.querySelectorAll('h1').length") == "1")
                    for element in try await browser.elements(
                        "a, button, input:not([type=hidden]), textarea, summary, progress, svg, [role=table], [role=region], nav, section"
                    ) {
                        let (role, label) = (try await browser.role(element), try await browser.label(element))
                        #expect(
                            !label.isEmpty || role == "generic" || role == "none", "\(path): a \(role) without a name")
                    }
                    // Every control is reached by Tab, in the order of the page.
                    let count =
                        Int(
                            try await browser.text(
                                "[...document.querySelectorAll(\"\(controls)\")].filter(e => e.checkVisibility()).length"
                            )
                        ) ?? 0
                    var reached: [String] = []
                    for _ in 0..<count {
                        try await browser.type(Browser.tab)
                        reached.append(
                            try await browser.text(
                                "[...document.querySelectorAll(\"\(controls)\")].filter(e => e.checkVisibility()).indexOf(document.activeElement)"
                            ))
                    }
                    #expect(reached == (0..<count).map(String.init), "\(path)")
                }
                try await browser.open("http://\(fixture.page.authority)/sources/rates")
                _ = try await browser.run("document.getElementById('review-run').focus()")
                try await browser.type(Browser.enter)
                try await browser.wait("it is shown", "document.getElementById('accept') ? 1 : 0")
                _ = try await browser.run("document.getElementById('accept').focus()")
                try await browser.type(Browser.enter)
                try await browser.wait("it is accepted", "document.getElementById('accept') ? 0 : 1")
                #expect(
                    try await fixture.page.get("/sources/rates?done=accept").body.contains(
                        "The documents of the blocked run"))
            }
        }
    }
}
