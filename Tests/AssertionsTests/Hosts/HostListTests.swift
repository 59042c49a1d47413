import Assertions
import SessionTrace
import Testing

@Suite("TelemetryHosts and OSNoiseHosts")
struct HostListTests {
    private func host(_ text: String) throws -> HostName { try #require(HostName(text)) }

    @Test("the built-in list covers names at label boundaries")
    func builtin() throws {
        let hosts = TelemetryHosts.builtin
        #expect(hosts.count > 250)
        #expect(try hosts.category(of: host("api2.amplitude.com"))?.category == "analytics")
        #expect(try hosts.entry(for: host("amplitude.com"))?.vendor == "Amplitude")
        #expect(try hosts.entry(for: host("notamplitude.com")) == nil)
        #expect(try hosts.entry(for: host("amplitude.com.evil.example")) == nil)
        #expect(try hosts.entry(for: host("google.com")) == nil)
        #expect(try hosts.entry(for: host("AMPLITUDE.com."))?.source == "builtin")
    }

    @Test("lists in every form, told apart by themselves")
    func forms() throws {
        let lists: [(TelemetryHosts.ListForm, String, Int, Int)] = [
            (.tsv, "# c\na.example\tcrash\tVendor A\nb.example\tanalytics\nbroken\n", 2, 1),
            (.hosts, "# h\n127.0.0.1 localhost\n0.0.0.0 a.example b.example # both\n::1 c.example\nnonsense\n", 3, 2),
            (.domains, "a.example\n*.b.example\n# no\nlocalhost\nx y\n", 2, 2),
            (
                .adblock,
                "[Adblock Plus 2.0]\n! c\n||a.example^\n||b.example^$third-party\n||c.example^$script\n||d.example/x\n@@||e.example^\n/track/*\n##.ad\n",
                2, 4
            ),
        ]
        for (form, text, loaded, ignored) in lists {
            var hosts = TelemetryHosts()
            #expect(TelemetryHosts.ListForm.guess(text) == form)
            let count = hosts.load(text, source: "mine")
            #expect(count.loaded == loaded, "\(form)")
            #expect(count.ignored == ignored, "\(form)")
            #expect(try hosts.entry(for: host("x.a.example"))?.source == "mine")
            #expect(try hosts.entry(for: host("localhost")) == nil)
            #expect(hosts.load(text, form: form, source: "again").repeated == loaded)
            #expect(try hosts.entry(for: host("a.example"))?.source == "mine")
        }
    }

    @Test("Windows line ends and empty input")
    func lineEnds() throws {
        var hosts = TelemetryHosts()
        #expect(hosts.load("a.example\r\nb.example\r\n", source: "w").loaded == 2)
        #expect(hosts.load("", source: "e").loaded == 0)
    }

    @Test("the nearest listed domain decides")
    func nearest() throws {
        var hosts = TelemetryHosts()
        hosts.add(try host("example.com"), category: "logs", source: "p")
        hosts.add(try host("crash.example.com"), category: "crash", source: "p")
        #expect(try hosts.entry(for: host("a.crash.example.com"))?.category == "crash")
        #expect(try hosts.entry(for: host("b.example.com"))?.category == "logs")
    }

    @Test("system hosts, ports and association paths")
    func systemHosts() throws {
        let hosts = OSNoiseHosts.builtin
        #expect(hosts.count > 60)
        #expect(try hosts.service(of: host("captive.apple.com")) == .connectivity)
        #expect(try hosts.service(of: host("12-courier.push.apple.com")) == .push)
        #expect(try hosts.service(of: host("mask-h2.icloud.com")) == .privateRelay)
        #expect(try !hosts.contains(host("apple.com")))
        #expect(try !hosts.contains(host("chia.health")))
        #expect(OSNoiseHosts.service(ofPort: 853) == .encryptedDNS)
        #expect(OSNoiseHosts.service(ofPort: 443) == nil)
        #expect(OSNoiseHosts.isAssociationPath("/.well-known/assetlinks.json"))
        #expect(!OSNoiseHosts.isAssociationPath("/a/v1/chia.health"))
    }
}
