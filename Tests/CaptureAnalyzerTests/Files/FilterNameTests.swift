import Testing

@testable import CaptureAnalyzer

/// Which words of a filter libpcap would look up.
@Suite struct FilterNameTests {
    @Test(arguments: [
        ("host a", "a"), ("a", "a"), ("tcp a", "a"), ("port 1 and host a", "a"), ("port http or a", nil),
        // What holds before a parenthesis holds behind it.
        ("port (http or https)", nil), ("host 1.2.3.4 and (port http) and a", "a"),
        ("port http and (host 1.2.3.4) and a", nil),
        ("(port http) and a", "a"), ("port http) and a", "a"), ("port http and (src a)", "a"),
        // Numbers and addresses as libpcap's scanner takes them, and what is nearly one.
        ("1.2.3.4", nil), ("1.2.3.4.5", "1.2.3.4.5"), ("1.2.3.", "1.2.3."), ("0x1f", nil), ("0X1F.2", nil),
        ("0x", "0x"),
        ("0xg", "0xg"), ("1a", "1a"), ("80-90", "80-90"), ("port 80-90", nil), ("aabbccddeeff", nil),
        ("aabbccddeef", "aabbccddeef"), ("aabbccddeeffa", "aabbccddeeffa"), ("aabbccddeefg", "aabbccddeefg"),
        ("aabb.ccdd.eeff", nil), ("aabb.ccdd.eef", "aabb.ccdd.eef"), ("aabb.ccdd.eefff", "aabb.ccdd.eefff"),
        ("a-b-c-d-e-f", nil), ("a-b-c-d-e", "a-b-c-d-e"), ("aaa-b-c-d-e-f", "aaa-b-c-d-e-f"), ("a.b.c.d.e.f", nil),
        ("a:b:c:d:e:f", nil), ("a:b:c:d:e", "a"), ("a:b:c:d:e:fff", "a"), ("beef::1", nil), ("::1", nil),
        (":: and a", "a"),
        ("beef:1", "beef"), ("::ffff:1.2.3.4", nil), ("beef::1g", "g"), ("fe80::/10", nil),
        // Words end where the scanner ends them.
        ("len-4 > 8", "len-4"), ("len - 4 > 8", nil), ("len- > 4", nil), ("a- > 4", "a"), ("a_b", "a_b"),
        ("tcp[a]", "a"),
        ("ether[0:4] = 1", nil), ("tcp[0]=a", "a"), ("!a", "a"), ("1.2.3.4/a", "a"), ("(a", "a"),
        ("TCP", "TCP"), ("gateway", "gateway"), ("port gateway", "gateway"),
        ("on eth0", nil), ("reason match and action pass", nil), ("type mgt subtype beacon", nil), ("", nil),
        ("\\", nil),
        ("host é", nil), ("tcp-syn", nil), ("icmp6-echo", nil), ("vxlan", "vxlan"),
    ])
    func first(expression: String, name: String?) {
        #expect(FilterName.first(in: expression) == name, "\(expression)")
    }

    @Test func anEscapedWordIsAName() {
        #expect(FilterName.first(in: #"host \tcp"#) == "tcp")
        #expect(FilterName.first(in: #"host \tcp(a"#) == "tcp")
        #expect(FilterName.first(in: #"proto \tcp and host a"#) == "a")
        #expect(FilterName.first(in: #"proto \tcp"#) == nil)
    }
}
