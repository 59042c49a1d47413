internal import SessionTrace

/// Header sections as requests and responses (RFC 9113 §8.3).
enum HTTP2Messages {
    /// A request from its header section. What a field that is not known would have told stays empty or nil.
    static func request(_ block: FrameEvent.HeaderBlock, scheme: String, at packet: PacketReference) -> Request {
        let fields = block.fields
        let method = fields.first(":method") ?? ""
        let authority = fields.first(":authority") ?? fields.first("host")
        let connectProtocol = fields.first(":protocol")
        var body = openBody
        body.isComplete = block.endsStream
        // A plain CONNECT has neither scheme nor path (§8.5); its target is the authority.
        let isConnect = method == "CONNECT" && connectProtocol == nil
        return Request(
            method: method, target: fields.first(":path") ?? (isConnect ? authority ?? "" : ""),
            scheme: fields.first(":scheme") ?? scheme, authority: authority, fields: fields, body: body,
            started: block.started, ended: packet, connectProtocol: connectProtocol)
    }

    /// A response from its header section; status 0 when `:status` is absent or not known.
    static func response(_ block: FrameEvent.HeaderBlock, at packet: PacketReference) -> Response {
        let text = block.fields.first(":status") ?? ""
        let isStatus = text.utf8.count == 3 && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        var body = openBody
        body.isComplete = block.endsStream || (isStatus && text.hasPrefix("1"))
        return Response(
            status: isStatus ? Int(text) ?? 0 : 0, reason: "", fields: block.fields, body: body,
            started: block.started, ended: packet)
    }

    /// Whether a section is one of trailers: fields, all known, and no pseudo-header field that a head must have.
    static func areTrailers(_ fields: FieldSection, of side: Side) -> Bool {
        !fields.hasUnknownFields && fields.first(side == .client ? ":method" : ":status") == nil
    }

    /// A request whose head was not seen: one field of which nothing is known stands for all.
    static func unseenRequest(scheme: String, at packet: PacketReference) -> Request {
        Request(
            method: "", target: "", scheme: scheme, authority: nil, fields: unseenFields, body: openBody,
            started: packet, ended: packet)
    }

    /// A response whose head was not seen.
    static func unseenResponse(at packet: PacketReference) -> Response {
        Response(status: 0, reason: "", fields: unseenFields, body: openBody, started: packet, ended: packet)
    }

    private static let openBody = Body(bytes: [], length: 0, missing: 0, isComplete: false, isCut: false)

    private static var unseenFields: FieldSection {
        var fields = FieldSection()
        fields.append(name: [], value: [], isKnown: false)
        return fields
    }
}
