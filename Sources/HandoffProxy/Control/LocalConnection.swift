internal import EventLoop
internal import SessionTrace

/// What a service of ours needs of a connection. Confined to the connection's loop.
protocol LocalStream: AnyObject {
    /// Waits for bytes and reads at most `buffer.count` of them; 0 is the client's end.
    nonisolated(nonsending) func read(
        into buffer: UnsafeMutableRawBufferPointer
    ) async throws(SocketError) -> (count: Int, arrival: Instant)

    /// Returns when the kernel has taken all of `bytes`.
    nonisolated(nonsending) func write(_ bytes: UnsafeRawBufferPointer) async throws(SocketError)

    /// Tells the client that nothing more follows.
    func finishWriting()
}

/// Serves requests on one connection until it ends.
struct LocalConnection {
    /// What is served there.
    enum Site {
        /// The set-up page, marks in band, the trust host.
        case device
        /// The control API.
        case control
    }

    /// Bytes read at once.
    private static let readSize = 16 << 10
    /// Bytes thrown away after a refusal, so that closing does not reset the connection before the answer is read.
    private static let drainLimit = 2 << 20

    let plane: ControlPlane
    let site: Site
    let client: Endpoint
    let local: Endpoint
    let isSecure: Bool
    /// Whether the connection ends with the first answer.
    var isSingle = false

    /// Serves requests; `firstBytes` have been read already, and arrived at `arrival`. Returns when the connection is to be
    /// closed; the caller closes it.
    nonisolated(nonsending) func serve(
        _ stream: any LocalStream, firstBytes: [UInt8] = [], arrival: Instant
    ) async {
        do throws(SocketError) {
            try await serveRequests(stream, firstBytes, arrival)
        } catch {
            // The client has gone; there is nobody to tell.
        }
    }

    private nonisolated(nonsending) func serveRequests(
        _ stream: any LocalStream, _ firstBytes: [UInt8], _ firstArrival: Instant
    ) async throws(SocketError) {
        var reader = LocalRequestReader()
        reader.feed(firstBytes)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.readSize, alignment: 16)
        defer { buffer.deallocate() }
        // When the request's first byte came: that is the time of a mark without one of its own.
        var started = firstArrival
        var latest = firstArrival
        while true {
            switch reader.next() {
            case .needsInput:
                let isInside = reader.isInsideRequest
                let (count, arrival) = try await stream.read(into: buffer)
                guard count > 0 else { return }
                if !isInside { started = arrival }
                latest = arrival
                reader.feed(buffer[..<count])
            case .wantsContinue:
                try await send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), to: stream)
            case .request(let request):
                let context = LocalContext(client: client, local: local, isSecure: isSecure, arrival: started)
                guard try await answer(request, in: context, to: stream) else { return }
                started = latest
            case .refused(let status, let why):
                let response = LocalResponse.refusal(status, why)
                try await send(response.bytes(keepsAlive: false, at: WallClock.now()), to: stream)
                // The proxy itself closes a device's connection in a way that lets the answer arrive.
                guard case .control = site else { return }
                stream.finishWriting()
                try await drain(stream, buffer)
                return
            }
        }
    }

    /// Answers one request; true when the connection stays open.
    private nonisolated(nonsending) func answer(
        _ request: LocalRequest, in context: LocalContext, to stream: any LocalStream
    ) async throws(SocketError) -> Bool {
        let response: LocalResponse
        var isLast = false
        switch site {
        case .device: response = plane.answer(device: request, in: context)
        case .control:
            switch plane.answer(control: request, in: context) {
            case .response(let answer): response = answer
            case .stop(let answer):
                response = answer
                isLast = true
            case .events(let after):
                try await sendEvents(after: after, to: stream)
                stream.finishWriting()
                return false
            }
        }
        // The next request on a proxy connection may be for any other origin, which is not served here.
        let keepsAlive = request.keepsAlive && !request.isAbsoluteForm && !isLast && !isSingle
        let bytes = response.bytes(isHead: request.method == "HEAD", keepsAlive: keepsAlive, at: WallClock.now())
        try await send(bytes, to: stream)
        if !keepsAlive { stream.finishWriting() }
        if isLast { plane.askToStop() }
        return keepsAlive
    }

    private nonisolated(nonsending) func sendEvents(
        after: Int?, to stream: any LocalStream
    ) async throws(SocketError) {
        guard let reader = plane.events.reader() else {
            let refusal = LocalResponse.refusal(503, "\(EventFeed.readerLimit) programs read the events already")
            return try await send(refusal.bytes(keepsAlive: false, at: WallClock.now()), to: stream)
        }
        defer { plane.events.leave(reader.id) }
        var next = after.map { $0 + 1 } ?? plane.events.nextNumber
        let head = LocalResponse(200, [.init(name: "Content-Type", value: "text/event-stream")])
        try await send(head.openHead(at: WallClock.now()) + Array(": events\n\n".utf8), to: stream)
        var wakeUps = reader.wakeUps.makeAsyncIterator()
        while true {
            let (events, missed) = plane.events.events(from: next)
            var text = missed > 0 ? "event: missed\ndata: {\"count\":\(missed)}\n\n" : ""
            for event in events { text += event.serverSentText }
            next = (events.last?.number ?? next - 1) + 1
            // A comment is the heartbeat: it fails when the reader has gone.
            if text.isEmpty { text = ":\n\n" }
            try await send(Array(text.utf8), to: stream)
            guard await wakeUps.next(isolation: #isolation) != nil else { return }
        }
    }

    private nonisolated(nonsending) func send(_ bytes: [UInt8], to stream: any LocalStream) async throws(SocketError) {
        // Memory of its own: the call waits, and `withUnsafeBytes` can't.
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, bytes.count), alignment: 16)
        defer { memory.deallocate() }
        memory.copyBytes(from: bytes)
        try await stream.write(UnsafeRawBufferPointer(rebasing: memory[..<bytes.count]))
    }

    private nonisolated(nonsending) func drain(
        _ stream: any LocalStream, _ buffer: UnsafeMutableRawBufferPointer
    ) async throws(SocketError) {
        var total = 0
        while total < Self.drainLimit {
            let count = try await stream.read(into: buffer).count
            guard count > 0 else { return }
            total += count
        }
    }
}
