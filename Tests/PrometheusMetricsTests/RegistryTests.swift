import CoreMetrics
import Foundation
import Metrics
import Testing

@testable import TributaryWeb

/// Which series a registry has.
@Suite struct RegistryTests {
    private let registry = PrometheusRegistry(limit: 5, hasProcess: false)

    private func samples() -> [String] {
        registry.exposition().text.split(separator: "\n")
            .filter { !$0.hasPrefix("#") }.map(String.init)
    }

    @Test func theSameLabelsAreOneSeriesUntilAllHaveDestroyedIt() {
        let first = Counter(label: "c_total", dimensions: [("a", "1"), ("b", "2")], factory: registry)
        let second = Counter(label: "c_total", dimensions: [("b", "2"), ("a", "1")], factory: registry)
        first.increment()
        second.increment()
        #expect(samples().first == "c_total{a=\"1\",b=\"2\"} 2")
        first.destroy()
        #expect(registry.count == 1)
        second.destroy()
        #expect(registry.count == 0)
        // Nobody sees it, and it harms nobody.
        second.increment()
        second.destroy()
        #expect(samples() == ["metrics_refused_series_total 0"])
        Counter(label: "c_total", dimensions: [("a", "1"), ("b", "2")], factory: registry).increment()
        #expect(samples().first == "c_total{a=\"1\",b=\"2\"} 1")
    }

    @Test func eachSeriesCanGo() {
        let meters = (0..<5).map { Meter(label: "m", dimensions: [("n", "\($0)")], factory: registry) }
        for (number, meter) in meters.enumerated() { meter.set(number) }
        for number in [1, 4, 0] { meters[number].destroy() }
        #expect(Set(samples().dropLast()) == ["m{n=\"2\"} 2", "m{n=\"3\"} 3"])
        meters[3].set(33)
        #expect(samples().contains("m{n=\"3\"} 33"))
    }

    @Test func aNameIsOneMetrics() {
        Meter(label: "x", factory: registry).set(1)
        Counter(label: "x", factory: registry).increment()
        Recorder(label: "h", factory: registry).record(1)
        Meter(label: "h_count", factory: registry).set(7)
        Counter(label: "y_total", factory: registry).increment()
        Counter(label: "y", factory: registry).increment()
        let samples = samples()
        #expect(samples.filter { $0.hasPrefix("x") || $0.hasPrefix("y") } == ["x 1", "y 1", "y_total 1"])
        #expect(samples.filter { $0.hasPrefix("h_count") } == ["h_count 1"])
        #expect(samples.contains("metrics_refused_series_total 2"))
    }

    @Test func thereIsALimit() {
        for number in 0..<9 { Meter(label: "m", dimensions: [("n", "\(number)")], factory: registry).set(1) }
        #expect(registry.count == 5)
        #expect(samples().count == 6 && samples().last == "metrics_refused_series_total 4")
    }

    @Test func countersOnlyGrow() {
        let counter = Counter(label: "c_total", factory: registry)
        counter.increment(by: 5)
        counter.increment(by: -3)
        let real = FloatingPointCounter(label: "r_total", factory: registry)
        real.increment(by: 0.25)
        real.increment(by: -1.0)
        real.increment(by: Double.nan)
        let big = Counter(label: "b_total", factory: registry)
        big.increment(by: Int64.max)
        big.increment(by: 2)
        #expect(
            samples() == [
                "b_total 9223372036854775807", "c_total 5", "metrics_refused_series_total 0", "r_total 0.25",
            ])
    }

    @Test func aScrapeAmidOthersWritesIsConsistent() async throws {
        let registry = registry
        let timer = Metrics.Timer(label: "t_seconds", factory: registry)
        let writers = (0..<2).map { number in Task { Self.write(timer, registry, number) } }
        let scraping = Task {
            var last = 0.0
            while !Task.isCancelled {
                last = Self.checkTimer(registry, atLeast: last)
                await Task.yield()
            }
        }
        for writer in writers { await writer.value }
        scraping.cancel()
        await scraping.value
        #expect(Self.checkTimer(registry, atLeast: 6000) == 6000)
        #expect(registry.count == 1)
    }

    private static func write(_ timer: Metrics.Timer, _ registry: PrometheusRegistry, _ writer: Int) {
        for number in 0..<3000 {
            timer.recordSeconds(0.25)
            let meter = Meter(label: "m", dimensions: [("n", "\(writer) \(number % 2)")], factory: registry)
            meter.set(number)
            meter.destroy()
        }
    }

    /// Expects that all values of the histogram are of one moment.
    private static func checkTimer(_ registry: PrometheusRegistry, atLeast last: Double) -> Double {
        let samples = registry.exposition().text.split(separator: "\n")
        func value(_ prefix: String) -> Double {
            samples.first { $0.hasPrefix(prefix) }
                .flatMap { $0.split(separator: " ").last }.flatMap { Double($0) } ?? -1
        }
        let count = value("t_seconds_count")
        #expect(value("t_seconds_sum") == count * 0.25)
        #expect(value("t_seconds_bucket{le=\"+Inf\"}") == count && value("t_seconds_bucket{le=\"0.25\"}") == count)
        #expect(count >= last)
        return count
    }

    @Test func theProcessIsAmongWhatIsTold() throws {
        let text = PrometheusRegistry().exposition().text
        func value(_ name: String) -> Double {
            text.split(separator: "\n").first { $0.hasPrefix(name + " ") }?.split(separator: " ").last
                .flatMap { Double($0) } ?? -1
        }
        #expect(value("process_cpu_seconds_total") > 0 && value("process_threads") >= 1)
        #expect((1 << 20...1 << 40).contains(Int(value("process_resident_memory_bytes"))))
        #expect(value("process_virtual_memory_bytes") >= value("process_resident_memory_bytes"))
        #expect((3...value("process_max_fds")).contains(value("process_open_fds")))
        let age = Date().timeIntervalSince1970 - value("process_start_time_seconds")
        #expect((0..<86_400).contains(age))
    }
}

extension Exposition {
    /// All pieces.
    var text: String { String(decoding: Array(joined()), as: UTF8.self) }
}
