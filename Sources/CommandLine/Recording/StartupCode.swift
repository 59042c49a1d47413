#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The pages of code that a start touched: of arguments, policy, certificates, and of the libraries' own beginnings.
enum StartupCode {
    /// Takes them out of the process's memory. What is needed again comes back from the page cache at its first use; the rest,
    /// some megabytes, no longer counts for a process that may run for days.
    static func forget() {
        guard case .whole(let maps) = try? FileSystem.readPlain("/proc/self/maps", limit: 16 << 20) else { return }
        for line in maps.split(separator: 0x0A) {
            guard let range = range(of: line), let start = UnsafeMutableRawPointer(bitPattern: range.lowerBound) else {
                continue
            }
            // Code of files on a disk is as it was read (nothing of ours or of the libraries is patched or relocated in place), and
            // stays mapped: no library is unloaded while the process runs.
            _ = madvise(start, range.count, MADV_DONTNEED)
        }
    }

    /// The addresses of a line of /proc/PID/maps (proc(5)) that maps code of a file, which is never written; nil for
    /// others.
    static func range(of line: some Collection<UInt8>) -> Range<UInt>? {
        let words = line.split(separator: 0x20, omittingEmptySubsequences: true).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard words.count >= 6, words[1] == "r-xp", words[5].hasPrefix("/"),
            !words[5].hasPrefix("/memfd:")
        else { return nil }
        let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        return ends.count == 2 && ends[0] < ends[1] ? ends[0]..<ends[1] : nil
    }
}
