import Foundation
import TestStores
import TestSupport
import Testing

/// What a reader sees while sources run: no text is swapped under his eyes, and notices are true.
@Suite(.enabled(if: Browser.isInstalled)) struct ReadersPlaceTests {
    /// Commits new titles of all items.
    private static func commit(_ title: String, _ ids: some Sequence<Int>, _ fixture: PageFixture) async throws {
        fixture.feeds.set("news", PageFixture.items(ids, title: title))
        _ = try await fixture.page.post("/sources/news/refresh")
        try await fixture.wait("\(title) is committed") {
            try fixture.store.rows("SELECT DISTINCT title FROM news") == [title]
        }
    }

    @Test func anOpenedChangeIsNeverSwappedForAnother() async throws {
        try await PageFixture.with { (fixture) async throws in
            try await Self.commit("second", 1...4, fixture)
            try await Browser.with { (browser) async throws in
                try await browser.open("http://\(fixture.page.authority)/sources/news")
                try await browser.wait("it is followed", "said === null ? 0 : 1")
                try await browser.run("document.querySelectorAll('#rows summary')[2].click()")
                #expect(try await browser.text("document.querySelectorAll('#rows details[open]').length") == "1")
                try await Self.commit("third", [4, 3, 2, 1], fixture)
                let run = try fixture.store.rows("SELECT max(id) FROM tributary_run WHERE source = 'news'")[0]
                try await browser.wait(
                    "the new run is shown", "document.querySelector('#rows h3 a').innerText == 'run \(run)' ? 1 : 0")
                #expect(try await browser.text("document.querySelectorAll('#rows summary').length") == "4")
                // Those are other changes, which nobody has opened.
                #expect(try await browser.text("document.querySelectorAll('#rows details[open]').length") == "0")
                // An update that leaves the changes as they are leaves what is open.
                try await browser.run("document.querySelectorAll('#rows summary')[1].click()")
                fixture.feeds.set("news", "", status: 500)
                _ = try await fixture.page.post("/sources/news/refresh")
                try await browser.wait(
                    "the failure is shown", "document.querySelector('#state .badge').innerText == 'failing' ? 1 : 0")
                #expect(try await browser.text("document.querySelectorAll('#rows details')[1].open ? 1 : 0") == "1")
            }
        }
    }

    @Test func thePlanOfASourceThatRunsSaysWhenItIsOutOfDate() async throws {
        try await PageFixture.with { (fixture) async throws in
            try await Self.commit("second", 1...4, fixture)
            try await Browser.with { (browser) async throws in
                try await browser.open("http://\(fixture.page.authority)/sources/news/undo")
                #expect(try await browser.text("document.getElementById('outdated').hidden ? 1 : 0") == "1")
                try await browser.wait("it is followed", "said === null ? 0 : 1")
                try await Self.commit("third", 1...4, fixture)
                try await browser.wait(
                    "it says so",
                    "document.getElementById('outdated').innerText.includes('was committed since') ? 1 : 0")
                try await browser.click("#outdated a")
                try await browser.wait(
                    "the present plan is shown", "document.getElementById('outdated').hidden ? 1 : 0")
                // Without haste.
                try await browser.click("#pause-first")
                try await browser.wait("it is paused", "document.getElementById('pause-first') ? 0 : 1")
                #expect(try await browser.text("location.pathname") == "/sources/news/undo")
                #expect(try await browser.text("document.getElementById('accept').innerText") == "Update 4 rows")
                try await browser.click("#accept")
                try await browser.wait("it is done", "location.pathname == '/sources/news' ? 1 : 0")
                #expect(try fixture.store.rows("SELECT DISTINCT title FROM news") == ["second"])
                // What cannot be refreshed has no button for it.
                #expect(try await browser.text("document.getElementById('refresh') ? 1 : 0") == "0")
                #expect(
                    try await fixture.page.post("/sources/news/refresh").headers["location"]
                        == "/sources/news?done=is-paused")
            }
        }
    }

    @Test func aNoticeGoesWithTheStateThatItIsAbout() async throws {
        try await PageFixture.with { (fixture) async throws in
            fixture.feeds.set("news", "", status: 500)
            try await Browser.with { (browser) async throws in
                try await browser.open("http://\(fixture.page.authority)/sources/news")
                try await browser.click("#pause")
                try await browser.wait("it is paused", "document.getElementById('resume') ? 1 : 0")
                #expect(try await browser.text("document.querySelector('.done') ? 1 : 0") == "1")
                // A reload does not say again what was done.
                #expect(try await browser.text("location.search") == "")
                try await browser.click("#resume")
                try await browser.wait(
                    "its run has failed", "document.querySelector('#state .badge').innerText == 'failing' ? 1 : 0")
                try await browser.wait("the notice is gone", "document.querySelector('.done') ? 0 : 1")
            }
        }
    }

    @Test func theTimesOfPlotsAreInTheReadersZone() async throws {
        try await PageFixture.with { (fixture) async throws in
            let plain = try await fixture.page.get("/sources/news").body
            #expect(plain.contains("<small data-utc>in UTC</small>") && plain.contains(" UTC, "), "\(plain)")
            try await Browser.with { (browser) async throws in
                try await browser.open("http://\(fixture.page.authority)/sources/news")
                try await browser.wait("the zone is said", "document.querySelector('[data-utc]').hidden ? 1 : 0")
                #expect(
                    try await browser.text("document.querySelector('#plots svg').textContent.includes('UTC') ? 1 : 0")
                        == "0")
                // The label says the time that its attribute has.
                #expect(
                    try await browser.text(
                        """
                        [...document.querySelectorAll('#plots [data-time]')].every((label) =>
                            label.textContent === forms[label.dataset.form].format(new Date(label.dataset.time))) ? 1 : 0
                        """) == "1")
            }
        }
    }

    @Test func enterInTheSearchKeepsTheFocus() async throws {
        try await PageFixture.with { (fixture) async throws in
            try await Browser.with { (browser) async throws in
                try await browser.open("http://\(fixture.page.authority)/")
                try await browser.run("window.mark = 1")
                try await browser.click("#q")
                try await browser.type("rat" + Browser.enter)
                try await browser.wait("one is found", "location.search == '?q=rat' ? 1 : 0")
                try await browser.wait(
                    "it is shown", "document.querySelectorAll('#list .body [role=row]').length == 1 ? 1 : 0")
                #expect(try await browser.text("document.activeElement.id") == "q")
                #expect(try await browser.text("window.mark") == "1")
                #expect(
                    try await browser.text(
                        "document.getElementById('zone').innerText.startsWith('Times are in') ? 1 : 0")
                        == "1")
            }
        }
    }
}
