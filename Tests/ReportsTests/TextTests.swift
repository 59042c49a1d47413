import Testing

@testable import Reports

@Suite struct TextTests {
    @Test(arguments: [
        ([], ""), ([7], "7"), ([3, 1, 2], "1–3"), ([1, 2, 9], "1, 2, 9"), ([0, 5, 5], "5"),
        ([1, 3, 5, 7, 9, 11, 13], "1, 3, 5, 7, 9, 11 … (7 in all)"),
    ])
    func joinsPacketNumbers(packets: [Int], text: String) {
        #expect(packetList(packets) == text)
    }

    @Test(
        arguments: [
            (812, "812 ns"), (35_000, "35 µs"), (1_500_000, "1.5 ms"), (180_000_000, "180 ms"),
            (2_400_000_000, "2.4 s"),
            (843_000_000_000, "14 min 3 s"), (-180_000_000, "−180 ms"),
        ] as [(Int64, String)])
    func writesDurations(nanoseconds: Int64, text: String) {
        #expect(durationText(nanoseconds: nanoseconds) == text)
    }

    @Test func wrapsAtSpaces() {
        #expect(wrapped("one two three", width: 8) == ["one two", "three"])
        #expect(wrapped("averyveryverylongword x", width: 5) == ["averyveryverylongword", "x"])
        #expect(wrapped("", width: 5) == [""])
    }

    @Test func namesPacketsForWireshark() {
        #expect(wiresharkFilter([12, 15, 16, 17]) == "frame.number in {12, 15..17}")
    }
}
