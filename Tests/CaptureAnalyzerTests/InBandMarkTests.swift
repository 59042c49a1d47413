import SessionTrace
import Testing

@testable import CaptureAnalyzer

@Suite struct InBandMarkTests {
    private static func object(_ target: String, host: String? = nil, status: Int = 200, method: String = "GET")
        -> String?
    {
        let packet = PacketReference(number: 1, time: Instant(nanoseconds: 1))
        let request = Request(
            method: method, target: target, scheme: "http", authority: host, fields: FieldSection(), started: packet,
            ended: packet)
        let response = Response(status: status, reason: "", fields: FieldSection(), started: packet, ended: packet)
        let exchange = Exchange(
            id: ExchangeID(connection: ConnectionID(0), index: 0), version: .http11, request: request,
            response: response, end: .complete, ended: packet)
        return InBandMark.object(of: exchange).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func whatTheProxyTookIsAMark() {
        let object = #"{"kind":"tap","target":"share","count":2}"#
        #expect(Self.object("http://mark.handoff.test/m/x/?kind=tap&target=share&count=2") == object)
        #expect(Self.object("/m/x/?kind=tap&target=share&count=2&name=", host: "Mark.Handoff.Test") == object)
        #expect(
            Self.object("/m/x/?kind=note&name=a%20b+c%zz&attrs.k=%C3%A9", host: "mark.handoff.test:80")
                == #"{"kind":"note","name":"a b c%zz","attrs":{"k":"é"}}"#)
    }

    @Test func nothingElseIs() {
        #expect(Self.object("http://mark.handoff.test/m/forged/?kind=tap", status: 404) == nil)
        #expect(Self.object("http://other.test/m/x/?kind=tap", host: "mark.handoff.test") == nil)
        #expect(Self.object("/m/x/?kind=tap", host: nil) == nil)
        #expect(Self.object("/trust?kind=tap", host: "mark.handoff.test") == nil)
        #expect(Self.object("/m/x/?target=share", host: "mark.handoff.test") == nil)
        #expect(Self.object("/m/x/", host: "mark.handoff.test") == nil)
        #expect(Self.object("/m/x/?kind=tap", host: "mark.handoff.test", method: "CONNECT") == nil)
        let long = String(repeating: "a", count: InBandMark.queryLimit)
        #expect(Self.object("/m/x/?kind=tap&name=\(long)", host: "mark.handoff.test") == nil)
    }
}
