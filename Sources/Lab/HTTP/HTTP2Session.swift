// Bytes of a connection go in, whole messages come out, and the bytes to send; nghttp2's session does the protocol
// (RFC 9113). The one file of this module that imports it.
internal import CNghttp2

/// One side of an HTTP/2 connection.
final class HTTP2Session {
    /// Something that a stream brought to its end.
    enum Message {
        /// A whole message: pseudo-header fields first.
        case whole(stream: Int32, fields: [(name: String, value: String)], body: [UInt8])
        /// The stream was reset.
        case reset(stream: Int32, code: UInt32)
    }

    /// What the callbacks write to; nghttp2 holds an unretained pointer to it, which `HTTP2Session` outlives.
    fileprivate final class State {
        var fields: [Int32: [(name: String, value: String)]] = [:]
        var bodies: [Int32: [UInt8]] = [:]
        var outgoing: [Int32: (bytes: [UInt8], sent: Int)] = [:]
        var messages: [Message] = []
    }

    private let state = State()
    private var session: OpaquePointer?

    /// A session that has its SETTINGS ready to be sent.
    init(isServer: Bool) throws(LabError) {
        var callbacks: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0 else { throw LabError("no memory for HTTP/2") }
        defer { nghttp2_session_callbacks_del(callbacks) }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, frame, name, nameLength, value, length, _, user in
            guard let state = HTTP2Session.state(user), let frame, let name, let value else { return 0 }
            let field = (
                String(decoding: UnsafeBufferPointer(start: name, count: nameLength), as: UTF8.self),
                String(decoding: UnsafeBufferPointer(start: value, count: length), as: UTF8.self)
            )
            state.fields[frame.pointee.hd.stream_id, default: []].append(field)
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, bytes, length, user in
            guard let state = HTTP2Session.state(user), let bytes else { return 0 }
            state.bodies[stream, default: []] += UnsafeBufferPointer(start: bytes, count: length)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
            guard let state = HTTP2Session.state(user), let head = frame?.pointee.hd else { return 0 }
            let ends = head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
            let isOfMessage =
                head.type == UInt8(NGHTTP2_HEADERS.rawValue) || head.type == UInt8(NGHTTP2_DATA.rawValue)
            if ends, isOfMessage { state.finish(head.stream_id) }
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, user in
            guard let state = HTTP2Session.state(user) else { return 0 }
            state.outgoing[stream] = nil
            if code != 0 { state.messages.append(.reset(stream: stream, code: code)) }
            return 0
        }
        let user = Unmanaged.passUnretained(state).toOpaque()
        let code =
            isServer
            ? nghttp2_session_server_new(&session, callbacks, user)
            : nghttp2_session_client_new(&session, callbacks, user)
        guard code == 0, nghttp2_submit_settings(session, 0, nil, 0) == 0 else {
            throw LabError("no memory for HTTP/2")
        }
    }

    deinit {
        nghttp2_session_del(session)
    }

    /// Takes bytes of the peer; the messages that they complete.
    func receive(_ bytes: [UInt8]) throws(LabError) -> [Message] {
        let count = bytes.withUnsafeBufferPointer { nghttp2_session_mem_recv(session, $0.baseAddress, $0.count) }
        guard count == bytes.count else {
            throw LabError("HTTP/2: \(String(cString: nghttp2_strerror(Int32(truncatingIfNeeded: count))))")
        }
        defer { state.messages = [] }
        return state.messages
    }

    /// Everything that is to be sent now.
    func takeOutput() -> [UInt8] {
        var output: [UInt8] = []
        while true {
            var bytes: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &bytes)
            guard count > 0, let bytes else { return output }
            output += UnsafeBufferPointer(start: bytes, count: count)
        }
    }

    /// Begins a request; its stream.
    func submitRequest(_ fields: [(name: String, value: String)], body: [UInt8]) throws(LabError) -> Int32 {
        // The stream's number is the next odd one: known before its body is asked for.
        let stream = Int32(bitPattern: nghttp2_session_get_next_stream_id(session))
        state.outgoing[stream] = (body, 0)
        let made = Self.withPairs(fields) { pairs, count in
            guard !body.isEmpty else { return nghttp2_submit_request(session, nil, pairs, count, nil, nil) }
            var provider = Self.provider
            return nghttp2_submit_request(session, nil, pairs, count, &provider, nil)
        }
        guard made == stream else { throw LabError("HTTP/2 takes no further request") }
        return stream
    }

    /// Answers a request.
    func submitResponse(
        on stream: Int32, _ fields: [(name: String, value: String)], body: [UInt8]
    ) throws(LabError) {
        state.outgoing[stream] = (body, 0)
        let code = Self.withPairs(fields) { pairs, count in
            guard !body.isEmpty else { return nghttp2_submit_response(session, stream, pairs, count, nil) }
            var provider = Self.provider
            return nghttp2_submit_response(session, stream, pairs, count, &provider)
        }
        guard code == 0 else { throw LabError("HTTP/2 takes no response on stream \(stream)") }
    }

    /// Resets a stream.
    func reset(_ stream: Int32, code: UInt32) {
        nghttp2_submit_rst_stream(session, 0, stream, code)
    }

    /// Says that nothing further is taken (GOAWAY).
    func submitGoAway() {
        nghttp2_session_terminate_session(session, 0)
    }

    // MARK: C

    private static func state(_ user: UnsafeMutableRawPointer?) -> State? {
        user.map { Unmanaged<State>.fromOpaque($0).takeUnretainedValue() }
    }

    private static var provider: nghttp2_data_provider {
        var provider = nghttp2_data_provider()
        provider.read_callback = { _, stream, buffer, length, flags, _, user in
            guard let state = HTTP2Session.state(user), let entry = state.outgoing[stream], let buffer else {
                flags?.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue)
                return 0
            }
            let piece = entry.bytes[entry.sent...].prefix(length)
            UnsafeMutableRawBufferPointer(start: buffer, count: length).copyBytes(from: piece)
            state.outgoing[stream]?.sent += piece.count
            if entry.sent + piece.count == entry.bytes.count {
                flags?.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue)
            }
            return piece.count
        }
        return provider
    }

    /// The fields as nghttp2 takes them: it copies names and values before it returns.
    private static func withPairs<Result>(
        _ fields: [(name: String, value: String)], _ body: (UnsafePointer<nghttp2_nv>?, Int) -> Result
    ) -> Result {
        var texts: [UInt8] = []
        var lengths: [(name: Int, value: Int)] = []
        for field in fields {
            texts += Array(field.name.utf8) + Array(field.value.utf8)
            lengths.append((field.name.utf8.count, field.value.utf8.count))
        }
        return texts.withUnsafeMutableBufferPointer { buffer in
            var pairs: [nghttp2_nv] = []
            var position = buffer.baseAddress
            for length in lengths {
                var pair = nghttp2_nv()
                pair.name = position
                pair.namelen = length.name
                position = position.map { $0 + length.name }
                pair.value = position
                pair.valuelen = length.value
                position = position.map { $0 + length.value }
                pairs.append(pair)
            }
            return pairs.withUnsafeBufferPointer { body($0.baseAddress, $0.count) }
        }
    }
}

extension HTTP2Session.State {
    fileprivate func finish(_ stream: Int32) {
        let whole = HTTP2Session.Message.whole(
            stream: stream, fields: fields.removeValue(forKey: stream) ?? [],
            body: bodies.removeValue(forKey: stream) ?? [])
        messages.append(whole)
    }
}
