import CArchive

/// Tar archives and compressed files, as libarchive writes them.
package enum Tar {
    package enum Compression: CaseIterable {
        case none, gzip, bzip2, xz, zstd

        fileprivate func add(to archive: OpaquePointer) -> Int32 {
            switch self {
            case .none: archive_write_add_filter_none(archive)
            case .gzip: archive_write_add_filter_gzip(archive)
            case .bzip2: archive_write_add_filter_bzip2(archive)
            case .xz: archive_write_add_filter_xz(archive)
            case .zstd: archive_write_add_filter_zstd(archive)
            }
        }
    }

    /// An archive of files, with a link, a folder and the end marker.
    package static func archive(_ files: [(name: String, content: String)], _ compression: Compression = .none)
        -> [UInt8]
    {
        written(compression, format: archive_write_set_format_ustar) { archive in
            add("folder/", "", 0o040000, to: archive)
            for file in files { add(file.name, file.content, 0o100000, to: archive) }
            add("link.xml", "", 0o120000, to: archive)
        }
    }

    /// A single file, compressed and in no archive.
    package static func compressed(_ content: String, _ compression: Compression) -> [UInt8] {
        written(compression, format: archive_write_set_format_raw) { archive in
            add("data", content, 0o100000, to: archive)
        }
    }

    private static func written(
        _ compression: Compression, format: (OpaquePointer) -> Int32, _ fill: (OpaquePointer) -> Void
    ) -> [UInt8] {
        guard let archive = archive_write_new() else { return [] }
        defer { archive_write_free(archive) }
        precondition(format(archive) == ARCHIVE_OK)
        precondition(compression.add(to: archive) == ARCHIVE_OK)
        archive_write_set_bytes_in_last_block(archive, 1)
        return [UInt8](unsafeUninitializedCapacity: 8 << 20) { buffer, count in
            // It is written to until the archive is closed.
            let used = UnsafeMutablePointer<Int>.allocate(capacity: 1)
            defer { used.deallocate() }
            used.initialize(to: 0)
            precondition(archive_write_open_memory(archive, buffer.baseAddress, buffer.count, used) == ARCHIVE_OK)
            fill(archive)
            precondition(archive_write_close(archive) == ARCHIVE_OK)
            count = used.pointee
        }
    }

    private static func add(_ name: String, _ content: String, _ type: UInt32, to archive: OpaquePointer) {
        let entry = archive_entry_new()
        defer { archive_entry_free(entry) }
        let bytes = Array(content.utf8)
        archive_entry_set_pathname(entry, name)
        archive_entry_set_filetype(entry, type)
        archive_entry_set_perm(entry, 0o644)
        archive_entry_set_size(entry, Int64(bytes.count))
        if type == 0o120000 { archive_entry_set_symlink(entry, "/etc/passwd") }
        precondition(archive_write_header(archive, entry) == ARCHIVE_OK)
        if !bytes.isEmpty { precondition(archive_write_data(archive, bytes, bytes.count) == bytes.count) }
    }
}
