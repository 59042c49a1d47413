import Testing

@testable import Lab

@Suite struct LabMessageTests {
    /// Fed byte by byte, a message is taken once it is whole and never before.
    @Test func takesAMessageOnceItIsWhole() throws {
        let request = LabRequest("POST", "/a?b=c", fields: [("Host", "h.example")], body: Array("hello".utf8))
        var buffer: [UInt8] = []
        let bytes = request.bytes
        for byte in bytes.dropLast() {
            buffer.append(byte)
            #expect(try LabMessage.take(from: &buffer) == nil)
        }
        buffer.append(bytes[bytes.count - 1])
        buffer += Array("rest".utf8)
        let message = try #require(try LabMessage.take(from: &buffer))
        #expect(message.startLine == ["POST", "/a?b=c", "HTTP/1.1"])
        #expect(message.body == Array("hello".utf8))
        #expect(buffer == Array("rest".utf8))
    }

    @Test(arguments: ["GET / HTTP/1.1\r\nno colon\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"])
    func refusesWhatIsNoMessage(_ text: String) {
        var buffer = Array(text.utf8)
        #expect(throws: LabError.self) { try LabMessage.take(from: &buffer) }
    }

    @Test func refusesAMessageOverTheLimit() {
        var buffer = [UInt8](repeating: 0x41, count: LabMessage.limit + 1)
        #expect(throws: LabError.self) { try LabMessage.take(from: &buffer) }
    }

    @Test func findsTheHandoffURL() {
        let answer = LabResponse.json(201, #"{"url":"https://chia.health/h/phs_x","expiresIn":900}"#)
        #expect(LabSession.handoffURL(in: answer) == "https://chia.health/h/phs_x")
        #expect(LabSession.handoffURL(in: .json(201, "{}")) == "")
    }
}
