import Foundation
import TestStores
import TestSupport
import Testing

/// What an open page does while its sources run, and what its keys do, in a real browser.
@Suite(.enabled(if: Browser.isInstalled)) struct LivePageTests {
    /// Lets a source fail, which moves it to the top of the list.
    private static func fail(_ source: String, _ fixture: PageFixture) async throws {
        fixture.feeds.set(source, "", status: 500)
        _ = try await fixture.page.post("/sources/\(source)/refresh")
    }

    @Test func updatesMoveNoFocusNoSelectionAndNoScrollPosition() async throws {
        let more = (0..<30).map { place in
            PageFixture.declaration("m\(place)", url: "http://127.0.0.1:1/").replacing(
                "[[sources", with: "enabled = false\n[[sources")
        }.joined()
        try await PageFixture.with(more: more) { (fixture) async throws in
            try await Browser.with { (browser) async throws in
                try await browser.resize(width: 1_000, height: 400)
                try await browser.open("http://\(fixture.page.authority)/")
                try await browser.wait("it is followed", "said === null ? 0 : 1")
                try await browser.run(
                    """
                    document.getElementById("row-news-link").focus();
                    const cell = document.querySelector("#row-m20 .name");
                    getSelection().selectAllChildren(cell);
                    cell.scrollIntoView();
                    window.top20 = () => document.getElementById("row-m20").getBoundingClientRect().top;
                    window.kept = [document.getElementById("row-news"), top20()];
                    """)
                try await Self.fail("rates", fixture)
                try await browser.wait(
                    "the failing source is first",
                    "document.querySelector('#list .body [role=row]').id == 'row-rates' ? 1 : 0")
                for (what, script) in [
                    ("focus", "document.activeElement.id == 'row-news-link'"),
                    ("the same row", "document.getElementById('row-news') === kept[0]"),
                    ("selection", "getSelection().toString().trim() == 'm20'"),
                    ("position on the screen", "Math.abs(top20() - kept[1]) < 2"),
                ] { #expect(try await browser.text("\(script) ? 1 : 0") == "1", "\(what)") }
                // The window says it, and a screen reader hears it once.
                #expect(try await browser.text("document.title") == "(1) Sources · Tributary")
                #expect(try await browser.text("document.getElementById('icon').href").contains("icon-problem.svg"))
                #expect(
                    try await browser.text("document.getElementById('announce').textContent")
                        == "1 source to look at: 1 failing.")
                #expect(
                    try await browser.text("document.querySelectorAll('main [aria-live], main [role=status]').length")
                        == "0")
                #expect(
                    try await browser.text("document.querySelector('#row-rates time').innerText").contains(/\d\d?:\d\d/)
                )
            }
        }
    }

    @Test func keysSearchMoveAndExplain() async throws {
        try await PageFixture.with { (fixture) async throws in
            try await Browser.with { (browser) async throws in
                let focused = "document.activeElement.id"
                try await browser.open("http://\(fixture.page.authority)/")
                for (key, id) in [
                    ("j", "row-news-link"), ("j", "row-rates-link"), ("j", "row-rates-link"), ("k", "row-news-link"),
                ] {
                    try await browser.type(key)
                    #expect(try await browser.text(focused) == id)
                }
                try await browser.type("/")
                #expect(try await browser.text(focused) == "q")
                // In a field, they are characters.
                try await browser.type("j?")
                #expect(try await browser.text("document.getElementById('q').value") == "j?")
                try await browser.open("http://\(fixture.page.authority)/")
                try await browser.type("?")
                #expect(try await browser.text("document.getElementById('help').open ? 1 : 0") == "1")
                #expect(
                    try await browser.text("document.getElementById('key-search').checkVisibility() ? 1 : 0") == "1")
                try await browser.click("#help button")
                #expect(try await browser.text("document.getElementById('help').open ? 1 : 0") == "0")
                // Where / leads nowhere, it is not listed.
                for (path, listed) in [("/tables", "1"), ("/tables/news", "1"), ("/try", "1"), ("/daemon", "0")] {
                    try await browser.open("http://\(fixture.page.authority)\(path)")
                    try await browser.type("/")
                    #expect(
                        try await browser.text("document.activeElement.localName == 'input' ? 1 : 0") == listed,
                        "\(path)")
                    #expect(
                        try await browser.text("document.getElementById('key-search').hidden ? 0 : 1") == listed,
                        "\(path)")
                }
                // No other script makes elements of texts.
                #expect(
                    try await browser.text(
                        "(() => { try { document.body.innerHTML = '<b>'; return 0 } catch { return 1 } })()") == "1")
            }
        }
    }

    @Test func aPersonTriesADocument() async throws {
        try await PageFixture.with(defaults: "allow_private = true") { (fixture) async throws in
            try await Browser.with { (browser) async throws in
                try await browser.open("http://\(fixture.page.authority)/")
                try await browser.click("a[href='/try']")
                try await browser.run("document.getElementById('url').value = '\(fixture.server.url)/news'")
                try await browser.click("button[value=infer]")
                try await browser.wait("its rows are shown", "document.getElementById('toml') ? 1 : 0")
                #expect(try await browser.text("document.querySelectorAll('#trial .body [role=row]').length") == "4")
                try await browser.run(
                    """
                    const area = document.getElementById("toml");
                    area.value = area.value.replace('table = "item"', 'table = "article"');
                    """)
                try await browser.click("button[value=rows]")
                try await browser.wait(
                    "its name has changed",
                    "document.querySelector('#trial h2').innerText.startsWith('article') ? 1 : 0")
                #expect(try await browser.text("document.getElementById('copy').hidden ? 1 : 0") == "0")
                try await browser.run("document.getElementById('toml').value = 'x = ['")
                try await browser.click("button[value=rows]")
                try await browser.wait("the mistake is named", "document.querySelector('.error') ? 1 : 0")
                #expect(try await browser.text("document.getElementById('toml').value") == "x = [")
            }
        }
    }
}
