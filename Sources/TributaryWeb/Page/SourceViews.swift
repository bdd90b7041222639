import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import TributaryEngine

/// What the templates of a source's page show.
extension SourcePage {
    var state: View {
        let source = status.state
        let (nextDue, dueWord) = status.due
        let schedule = status.declaration.flatMap { source in
            source.schedule.map { "at \($0.text) (\($0.timeZone))" }
                ?? (source.hasOwnCache ? "every \(RelativeTime.duration(source.cache.seconds))" : nil)
        }
        // For screen readers.
        let outcome =
            running != nil
            ? nil
            : runs.first.map { last in
                last.outcome.rawValue
                    + (last.outcome == .committed ? ": \(Figures.changes(last, number: \.grouped))" : "")
            }
        // A link leads to the page whose button does what the error advises.
        let error = source.error.map { blockedRun == nil ? $0 : AcceptAdvice.removed(from: $0) }
        let isRunning = running != nil || status.isRunning
        return [
            "standing": status.standing(isRunning: isRunning),
            "lastRun": source.lastRun, "lastCommit": source.lastCommit, "nextDue": nextDue, "dueWord": dueWord,
            // Nil where the server decides.
            "schedule": schedule,
            "daemon": status.runner ?? status.daemon,
            "error": error, "note": source.note.map { Sentence($0, due: source.nextDue) },
            "since": running?.startedAt, "progress": running?.progress.map(Self.view), "outcome": outcome,
        ]
    }

    private static func view(_ progress: RunProgress) -> View {
        [
            "request": progress.requestNumber, "requests": progress.requestCount,
            "bytes": Figures.bytes(progress.bytes), "received": progress.bytes, "total": progress.totalBytes,
            "rows": progress.rows > 0 ? Figures.count(progress.rows, "row") : nil,
        ]
    }

    var actions: View {
        let mayAct = pages.mayChange && status.declaration?.isEnabled == true
        let offered =
            mayAct ? SourceOperation.all.filter { $0.button?.isOffered(status.state, status.acceptance) == true } : []
        let buttons: [View] = offered.map {
            ["id": $0.name, "title": $0.button?.title, "address": PageAddress.path(name, "/" + $0.name)]
        }
        let corrections: [View] = CorrectionOperation.all.filter { $0.isOffered(status.declaration) }.map {
            ["id": $0.name, "title": $0.name.capitalized, "address": PageAddress.path(name, "/" + $0.name)]
        }
        let review = blockedRun.map { number in
            Link(
                name: "Review run \(number)" + (blockedCounts.map { ": " + ReviewView.words($0) } ?? ""),
                address: PageAddress.path(name, "/runs/\(number)"))
        }
        return [
            "buttons": buttons, "review": review, "corrections": pages.mayChange ? corrections : [View](),
        ]
    }

    var lastRows: View {
        let names = Set(requests.values.flatMap(\.tables)).sorted()
        let tables: [View] = names.map {
            ["name": $0, "address": pages.showsRows ? "/tables/" + $0.percentEncoded : nil]
        }
        return [
            "tables": tables, "hasTables": !names.isEmpty,
            "rows": rows.map { "\($0.grouped) row\($0 == 1 ? "" : "s")" },
            "run": lastChange?.run.view(), "changes": lastChange?.changes?.changes ?? [ChangeView](),
            "changed": lastChange.map { Figures.changes($0.run, number: \.grouped) },
        ]
    }

    var plots: View {
        let periods: [View] = Period.allCases.map {
            [
                "name": $0.rawValue.capitalized, "address": options.address(name, period: $0),
                "isChosen": $0 == options.period,
            ]
        }
        let rows: [View] = timeline.spans.compactMap { $0 }.reversed().map { figures in
            [
                "start": timeline.start(of: figures.span), "runs": figures.runs, "failed": figures.failed,
                "inserted": figures.inserted.grouped, "updated": figures.updated.grouped,
                "deleted": figures.deleted.grouped, "bytes": Figures.bytes(figures.bytes),
                "seconds": Figures.seconds(figures.seconds),
            ]
        }
        return [
            "periods": periods, "chart": runs.isEmpty ? nil : BarChart(timeline: timeline).svg, "rows": rows,
        ]
    }

    /// The most requests that are shown.
    private static let mostRequests = 200

    var requestList: View {
        let declared = status.declaration?.requests ?? []
        let byKey = Dictionary(declared.map { ($0.key, $0) }) { first, _ in first }
        let all = declared.map(\.key) + requests.keys.filter { byKey[$0] == nil }.sorted()
        let rows = all.prefix(Self.mostRequests).map { view(ofRequest: $0, byKey[$0], requests[$0]) }
        return ["rows": rows, "more": all.count > rows.count ? (all.count - rows.count).grouped : nil]
    }

    private func view(ofRequest key: String, _ declared: RequestDeclaration?, _ state: RequestState?) -> View {
        // The last run may have ended before it came to the request.
        let report = runs.lazy.flatMap(\.requests).first { $0.key == key && $0.outcome != .skipped }
        let options = declared?.shownOptions ?? ""
        let address = declared.map { redactor.redact("\($0.method) \($0.url.template.shownAddress)") }
        return [
            "key": key, "address": address, "options": options.isEmpty ? nil : options,
            "status": report?.status.map(String.init) ?? "–", "outcome": report?.outcome.rawValue,
            "etag": state?.validators.etag, "lastModified": state?.validators.lastModified,
            "tables": state.map { $0.tables.sorted().joined(separator: ", ") } ?? "",
            "movedTo": state?.movedTo.map { redactor.redact($0.shownAddress) },
        ]
    }

    /// The least runs that are folded.
    private static let leastFolded = 3

    /// The runs, one by one, or several that came to the same.
    var runList: View {
        let folds = RunFold.folds(runs) { $0.outcome == .unchanged && $0.kind == nil ? "" : "\($0.number ?? 0)" }
        let rows = folds.flatMap { runs -> [View] in
            let views = runs.map { $0.view(blocked: $0.number == blockedRun ? blockedCounts : nil) }
            guard runs.count >= Self.leastFolded, let first = runs.last, let last = runs.first else {
                return views.map { ["run": $0] }
            }
            let polls = runs.reduce(0) { $0 + $1.polls }
            let fold: View = [
                "id": "fold-\(first.number.map(String.init) ?? "")", "title": "\(polls.grouped) unchanged runs",
                "from": first.startedAt, "to": last.lastPoll ?? last.startedAt, "runs": views,
            ]
            return [["fold": fold]]
        }
        let counts: [View] = Options.runCounts.map {
            [
                "count": $0, "address": options.address(name, runs: $0) + "#runs", "isChosen": $0 == options.runs,
            ]
        }
        return ["rows": rows, "counts": counts]
    }
}
