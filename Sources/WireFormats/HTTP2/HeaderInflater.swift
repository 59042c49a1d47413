internal import CNghttp2

/// nghttp2's HPACK inflater, for header blocks of a connection that was seen from its start.
///
/// The one file that touches nghttp2. The C inflater is owned by this object alone and freed with it; it keeps no
/// pointer into the input between calls, and the name and value that it hands out are copied before the next call.
///
/// An observer needs no SETTINGS to decode: the table changes size only by updates *in* the header blocks
/// (RFC 7541 §4.2), so the library's own bound is set to the largest table that is kept at all.
final class HeaderInflater {
    /// Bytes of table that are kept; a size update above it is an error.
    static let largestTable = 1 << 20

    private var inflater: OpaquePointer?

    /// Nil when the library has no memory for it.
    init?() {
        guard nghttp2_hd_inflate_new(&inflater) == 0 else { return nil }
        guard nghttp2_hd_inflate_change_table_size(inflater, Self.largestTable) == 0 else {
            nghttp2_hd_inflate_del(inflater)
            return nil
        }
    }

    deinit {
        nghttp2_hd_inflate_del(inflater)
    }

    /// Decodes one header block into `fields`; `isCut` says that its end is missing, so that its start is all there is.
    ///
    /// Returns false when the block is broken or cut; `fields` then has what stood before the break, and the inflater
    /// must not be used again.
    func decode(_ block: UnsafeRawBufferPointer, isCut: Bool, into fields: inout BoundedFields) -> Bool {
        var position = block.bindMemory(to: UInt8.self).baseAddress
        var left = block.count
        while true {
            var pair = nghttp2_nv()
            var flags: Int32 = 0
            // Lifetime: `block` outlives the call; `pair` points into `block` or the inflater and is copied below.
            let used = nghttp2_hd_inflate_hd2(inflater, &pair, &flags, position, left, isCut ? 0 : 1)
            guard used >= 0, used <= left else { return false }
            position = position.map { $0 + used }
            left -= used
            if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
                fields.append(
                    name: UnsafeBufferPointer(start: pair.name, count: pair.namelen),
                    value: UnsafeBufferPointer(start: pair.value, count: pair.valuelen))
            } else if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 {
                return nghttp2_hd_inflate_end_headers(inflater) == 0
            } else if left == 0 {
                return false
            }
        }
    }
}
