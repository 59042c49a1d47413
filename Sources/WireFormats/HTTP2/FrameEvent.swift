internal import SessionTrace

/// What one direction of an HTTP/2 connection says, frame by frame; pointers are valid as long as the input is.
enum FrameEvent {
    /// A header section of a stream: request, response, interim response or trailers.
    struct HeaderBlock {
        var streamID: UInt32
        /// The stream that a PUSH_PROMISE reserves; nil for HEADERS.
        var promisedID: UInt32?
        var fields: FieldSection
        /// Whether the frame ends the stream (never for a PUSH_PROMISE).
        var endsStream: Bool
        /// The packet with the first byte of its first frame.
        var started: PacketReference
        /// What was wrong with it.
        var complaint: String?
    }

    /// The input is used up.
    case starved
    case headers(HeaderBlock)
    /// Content octets, without padding.
    case data(streamID: UInt32, UnsafeRawBufferPointer)
    /// Content octets that were lost in a hole.
    case dataLost(streamID: UInt32, count: Int)
    /// A DATA frame with END_STREAM has ended.
    case dataEnded(streamID: UInt32)
    case reset(streamID: UInt32, code: UInt32)
    case goAway(lastStreamID: UInt32)
    /// SETTINGS_MAX_FRAME_SIZE. No other parameter matters to an observer: the header table follows the size updates in
    /// the header blocks themselves, which every change of SETTINGS_HEADER_TABLE_SIZE makes its peer send.
    case settings(largestFrame: Int)
    /// A breach of the framing rules, on a stream or (0) on the connection.
    case malformed(streamID: UInt32, String)
    /// The frame boundaries are lost; what follows is searched for them.
    case lostSynchronisation
    /// The frame boundaries were found again: what the search holds is to be read, and `dropped` bytes are lost.
    case found(FrameSearch.Replay, dropped: Int)
    /// The bytes are no HTTP/2; nothing more comes from this direction.
    case abandoned(String)
}
