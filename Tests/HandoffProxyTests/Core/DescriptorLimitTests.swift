import Foundation
import SessionTrace
import Testing

@testable import HandoffProxy

/// Files and sockets: how many may be open, and what is said when there are too few.
@Suite struct DescriptorLimitTests {
    @Test func theSoftLimitIsRaisedToTheHardOne() {
        let allowed = DescriptorLimit.raise()
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #expect(allowed == UInt64(limit.rlim_cur))
        #expect(limit.rlim_cur == limit.rlim_max)
    }

    @Test func anEpisodeIsToldOnce() {
        var episode = ShortageEpisode()
        let start = Instant(nanoseconds: 1_000_000_000)
        let afterSilence = 10_000_000_000 + ShortageEpisode.silenceNanoseconds + 1
        let times = (0...100).map { Int64($0) * 100_000_000 } + [afterSilence, afterSilence + 1]
        let told = times.filter { episode.begins(at: start.advanced(byNanoseconds: $0)) }
        #expect(told == [0, afterSilence])
    }
}

/// Key logs hold what decrypts a journey: they are their owner's alone.
@Suite struct KeyLogFileTests {
    @Test(arguments: [nil, 0o644] as [mode_t?]) func othersCantReadIt(before: mode_t?) throws {
        let scratch = try ScratchFolder()
        let path = scratch["keys"]
        if let before {
            #expect(FileManager.default.createFile(atPath: path, contents: Data("old\n".utf8)))
            chmod(path, before)
        }
        let file = try KeyLogFile(path: path)
        file.append(Array("new\n".utf8))
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == (before == nil ? "new\n" : "old\nnew\n"))
    }

    @Test func aDeviceKeepsItsMode() throws {
        var before = stat()
        var after = stat()
        #expect(stat("/dev/null", &before) == 0)
        try KeyLogFile(path: "/dev/null").append([0x0A])
        #expect(stat("/dev/null", &after) == 0 && after.st_mode == before.st_mode)
    }
}
