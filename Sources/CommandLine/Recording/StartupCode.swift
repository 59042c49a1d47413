#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The pages of code that a start touched: of arguments, policy, certificates, and of the libraries' own beginnings; and what
/// the loader read to relocate them.
enum StartupCode {
    /// Takes them out of the process's memory. What is needed again comes back from the page cache at its first use; the rest,
    /// some megabytes, no longer counts for a process that may run for days.
    static func forget() {
        guard case .whole(let maps) = try? FileSystem.readPlain("/proc/self/maps", limit: 16 << 20) else { return }
        for line in maps.split(separator: 0x0A) {
            guard let range = range(of: line), let start = UnsafeMutableRawPointer(bitPattern: range.lowerBound) else {
                continue
            }
            // These pages are as they were read from a file on a disk (nothing in them is patched or relocated in place), and
            // stay mapped: no library is unloaded while the process runs.
            _ = madvise(start, range.count, MADV_DONTNEED)
        }
    }

    /// The addresses of a line of /proc/PID/maps (proc(5)) that maps what is never written: code of a file, or a file's
    /// beginning, which holds relocations and tables. Nil for others: what is read-only further on may have been relocated
    /// before (PT_GNU_RELRO), and is not as in the file.
    static func range(of line: some Collection<UInt8>) -> Range<UInt>? {
        let words = line.split(separator: 0x20, omittingEmptySubsequences: true).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard words.count >= 6, words[1] == "r-xp" || words[1] == "r--p" && UInt(words[2], radix: 16) == 0,
            words[5].hasPrefix("/"), !words[5].hasPrefix("/memfd:")
        else { return nil }
        let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        return ends.count == 2 && ends[0] < ends[1] ? ends[0]..<ends[1] : nil
    }
}
