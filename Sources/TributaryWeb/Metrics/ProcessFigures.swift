import Foundation

/// The figures of this process, under the names that all of Prometheus' clients give them, from proc(5). What cannot be
/// read is left out.
enum ProcessFigures {
    static func families() -> [MetricFamily] {
        var families: [MetricFamily] = []
        func tell(_ name: String, _ help: String, isCounter: Bool = false, _ value: Double?) {
            guard let value else { return }
            var family = MetricFamily(
                name: name, kind: isCounter ? .realCounter : .gauge,
                description: MetricDescription(name: name, help: help))
            family.add(NumberSeries(labels: "", value: value))
            families.append(family)
        }
        let fields = statusFields()
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        let processor = fields.map { ($0[11] + $0[12]) / ticks }
        tell(
            "process_cpu_seconds_total", "User and system CPU time of the process.", isCounter: true, processor)
        tell(
            "process_resident_memory_bytes", "Resident memory of the process.",
            fields.map(residentBytes))
        tell("process_virtual_memory_bytes", "Virtual memory of the process.", fields.map { $0[20] })
        tell("process_threads", "Threads of the process.", fields.map { $0[17] })
        tell(
            "process_start_time_seconds", "When the process began, in seconds since 1970.",
            bootTime().flatMap { boot in fields.map { boot + $0[19] / ticks } })
        tell("process_open_fds", "File descriptors that are open.", openDescriptors())
        var limit = rlimit()
        let isKnown = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        tell(
            "process_max_fds", "File descriptors that may be open.",
            isKnown ? (limit.rlim_cur == rlim_t.max ? .infinity : Double(limit.rlim_cur)) : nil)
        return families
    }

    /// Returns the resident memory of this process; nil if it cannot be read.
    static func residentBytes() -> Double? { statusFields().map(residentBytes) }

    private static func residentBytes(_ fields: [Double]) -> Double {
        fields[21] * Double(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// The fields of `/proc/self/stat` behind the program's name, which may hold anything: the first is the third of the
    /// manual page.
    private static func statusFields() -> [Double]? {
        guard let text = contents("/proc/self/stat"), let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ").map { Double($0) ?? 0 }
        return fields.count > 21 ? fields : nil
    }

    private static func bootTime() -> Double? {
        contents("/proc/stat")?.split(separator: "\n").first { $0.hasPrefix("btime ") }
            .flatMap { Double($0.dropFirst(6)) }
    }

    private static func openDescriptors() -> Double? {
        guard let folder = opendir("/proc/self/fd") else { return nil }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        // Without `.`, `..` and the folder itself.
        return Double(max(0, count - 3))
    }

    /// Such files tell no size, so that they are read to their end.
    private static func contents(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 8192)
        while case let count = read(descriptor, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
