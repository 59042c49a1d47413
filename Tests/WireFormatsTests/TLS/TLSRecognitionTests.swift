import Testing
import WireFormats

@Suite struct TLSRecognitionTests {
    @Test func firstBytes() {
        for (text, startSeen, expected) in [
            ("160301", true, TLSRecognition.undecided), ("16030100c401", true, .tls), ("16030100c40b", true, .other),
            ("17030300c4", true, .other), ("17030300c4", false, .tls), ("1503010002", true, .tls),
            ("", true, .undecided), ("47455420", true, .other), ("160301ff00", true, .other),
            // SSLv2: 18 bytes of suites, 16 of challenge.
            ("802b010301001200000010", true, .tls), ("802b0103", true, .undecided),
            ("802b010301001300000010", true, .other),
        ] {
            let bytes = unhex(text)
            #expect(bytes.withUnsafeBytes { TLSRecognition($0, startSeen: startSeen) } == expected, "\(text)")
        }
    }
}
