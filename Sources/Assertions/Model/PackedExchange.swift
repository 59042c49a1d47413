internal import SessionTrace

/// One exchange in one piece of memory, no larger than its texts and contents make it: for the many that wait to be
/// searched again and seldom are.
///
/// An exchange in, the same exchange out. Whatever is rare (interim responses, trailers, anomalies, a broken end) is not
/// packed.
struct PackedExchange: Sendable {
    private let bytes: [UInt8]

    /// Nil for an exchange with something that is not packed.
    init?(_ exchange: Exchange) {
        guard exchange.end == .complete, exchange.informational.isEmpty, exchange.anomalies.isEmpty,
            exchange.request?.connectProtocol == nil, exchange.request?.trailers.fields.isEmpty ?? true,
            exchange.response?.trailers.fields.isEmpty ?? true
        else { return nil }
        var writer = Writer()
        writer.bytes.reserveCapacity(Self.size(exchange))
        writer.put(exchange.id.connection.number)
        writer.put(exchange.id.index)
        writer.put(exchange.version.rawValue)
        writer.put(exchange.streamID != nil)
        if let id = exchange.streamID { writer.put(Int(bitPattern: UInt(id))) }
        writer.put(exchange.ended)
        writer.put(exchange.isPushed)
        writer.put(exchange.request != nil)
        if let request = exchange.request {
            writer.put(request.method)
            writer.put(request.target)
            writer.put(request.scheme)
            writer.put(request.authority != nil)
            if let authority = request.authority { writer.put(authority) }
            writer.put(request.fields)
            writer.put(request.body)
            writer.put(request.started)
            writer.put(request.ended)
        }
        writer.put(exchange.response != nil)
        if let response = exchange.response {
            writer.put(response.status)
            writer.put(response.reason)
            writer.put(response.fields)
            writer.put(response.body)
            writer.put(response.started)
            writer.put(response.ended)
        }
        bytes = writer.bytes
    }

    /// The exchange, as it was.
    var exchange: Exchange {
        var reader = Reader(bytes: bytes)
        let id = ExchangeID(connection: ConnectionID(reader.number()), index: reader.number())
        guard let version = HTTPVersion(rawValue: reader.text()) else {
            preconditionFailure("what was packed is a version")
        }
        let streamID = reader.flag() ? UInt64(UInt(bitPattern: reader.number())) : nil
        let ended = reader.reference()
        let isPushed = reader.flag()
        var request: Request?
        if reader.flag() {
            request = Request(
                method: reader.text(), target: reader.text(), scheme: reader.text(),
                authority: reader.flag() ? reader.text() : nil, fields: reader.fields(), body: reader.body(),
                started: reader.reference(), ended: reader.reference())
        }
        var response: Response?
        if reader.flag() {
            response = Response(
                status: reader.number(), reason: reader.text(), fields: reader.fields(), body: reader.body(),
                started: reader.reference(), ended: reader.reference())
        }
        return Exchange(
            id: id, version: version, streamID: streamID, request: request, response: response, end: .complete,
            ended: ended, isPushed: isPushed)
    }

    /// Bytes that it takes, about.
    private static func size(_ exchange: Exchange) -> Int {
        func size(_ fields: FieldSection) -> Int { fields.storage.count + 4 * fields.fields.count }
        var bytes = 128
        if let request = exchange.request {
            bytes += size(request.fields) + request.body.bytes.count + request.target.utf8.count
        }
        if let response = exchange.response { bytes += size(response.fields) + response.body.bytes.count }
        return bytes
    }

    // MARK: numbers, texts and sections

    private struct Writer {
        var bytes: [UInt8] = []

        /// Seven bits a byte, the sign in the lowest one.
        mutating func put(_ number: Int) {
            var rest = UInt(bitPattern: number &<< 1) ^ UInt(bitPattern: number &>> (Int.bitWidth - 1))
            while rest > 0x7F {
                bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest &>>= 7
            }
            bytes.append(UInt8(truncatingIfNeeded: rest))
        }

        mutating func put(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

        mutating func put(_ text: String) {
            put(text.utf8.count)
            bytes.append(contentsOf: text.utf8)
        }

        mutating func put(_ reference: PacketReference) {
            put(reference.number)
            put(Int(reference.time.nanoseconds))
        }

        mutating func put(_ fields: FieldSection) {
            put(fields.fields.count)
            for field in fields.fields {
                put(field.isKnown)
                put(Int(field.nameLength))
                put(Int(field.valueLength))
                bytes.append(contentsOf: fields.nameBytes(field))
                bytes.append(contentsOf: fields.valueBytes(field))
            }
        }

        mutating func put(_ body: Body) {
            put(body.bytes.count)
            bytes.append(contentsOf: body.bytes)
            put(body.length)
            put(body.missing)
            put(body.isComplete)
            put(body.isCut)
        }
    }

    private struct Reader {
        let bytes: [UInt8]
        private var place = 0

        init(bytes: [UInt8]) {
            self.bytes = bytes
        }

        mutating func number() -> Int {
            var value: UInt = 0
            var shift: UInt = 0
            while bytes[place] > 0x7F {
                value |= UInt(bytes[place] & 0x7F) &<< shift
                shift += 7
                place += 1
            }
            value |= UInt(bytes[place]) &<< shift
            place += 1
            return Int(bitPattern: value &>> 1) ^ -Int(bitPattern: value & 1)
        }

        mutating func flag() -> Bool {
            place += 1
            return bytes[place - 1] != 0
        }

        mutating func slice(_ count: Int) -> ArraySlice<UInt8> {
            place += count
            return bytes[place - count..<place]
        }

        mutating func text() -> String { String(decoding: slice(number()), as: UTF8.self) }

        mutating func reference() -> PacketReference {
            PacketReference(number: number(), time: Instant(nanoseconds: Int64(number())))
        }

        mutating func fields() -> FieldSection {
            var fields = FieldSection()
            for _ in 0..<number() {
                let isKnown = flag()
                let nameLength = number()
                let valueLength = number()
                fields.append(name: slice(nameLength), value: slice(valueLength), isKnown: isKnown)
            }
            return fields
        }

        mutating func body() -> Body {
            Body(
                bytes: Array(slice(number())), length: number(), missing: number(), isComplete: flag(), isCut: flag())
        }
    }
}
