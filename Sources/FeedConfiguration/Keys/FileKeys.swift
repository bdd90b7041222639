/// The tables of the file.
struct FileKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable("the file", "The file.", all)

    let store = TableKey.table("store", StoreKeys.self, "The database of the rows.")
    let daemon = TableKey.table(
        "daemon", DaemonKeys.self, "Concurrency, and the addresses of the page, the metrics and the health check.")
    let hosts = TableKey.named("hosts", HostKeys.self, "Limits for one host: concurrent requests, and their pace.")
    let defaults = TableKey.table("defaults", DefaultKeys.self, "Values for all sources.")
    let sources = TableKey.named("sources", SourceKeys.self, "The sources.")
    let hooks = TableKey.named("hooks", HookKeys.self, "A hook: a program or an address that receives events.")
}

/// What sources and requests inherit.
struct DefaultKeys: KeyGroup {
    static let table = KeyTable("[defaults]", "Values for all sources.", SourceKeys.table.inheritable)
}
