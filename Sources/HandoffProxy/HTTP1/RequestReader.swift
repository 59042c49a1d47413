internal import WireFormats

/// Follows the requests that a client sends on one connection: bytes in, heads and the bytes of contents out, all of them
/// as they came.
///
/// ```
/// head ──whole──► length │ chunked ──┐
///  ▲  └──no content────────┐         │
///  └──────────── ended ◄───┴─────────┘          anything ambiguous ──► refused (for good)
/// ```
/// A head comes out whole or not at all, and so does each line of the chunked coding: nothing of a line that turns out to
/// be wrong was ever handed on.
struct RequestReader {
    private enum State {
        case head
        case length(remaining: Int)
        case chunked(RequestChunks)
        case ended
        case refused(RequestRefusal)
    }

    /// What a call of `read` came to.
    enum Step: Hashable {
        /// Everything that was given has been taken.
        case needsInput
        /// Empty lines before a request (RFC 9112 §2.2); they are no part of it.
        case padding([UInt8])
        case head(RequestHead)
        /// Bytes of the content as coded, chunk lines and trailers included.
        case content([UInt8])
        /// The request is whole.
        case ended
        /// What follows can't be read in one way only. `takeUnread` has what was taken but not handed out.
        case refused(RequestRefusal)
    }

    /// Bytes of a head.
    static let headLimit = 256 << 10

    private var state = State.head
    /// A head that is not whole.
    private var gathered: [UInt8] = []
    /// Where the line begins that is being looked at, and how far it was searched for its end.
    private var lineStart = 0
    private var searched = 0

    /// Whether it stands inside a content: its request's head was handed out, its end was not.
    var isInContent: Bool {
        switch state {
        case .length, .chunked: true
        case .head, .ended, .refused: false
        }
    }

    /// Whether it was a content that was refused, not a head: its request's head was handed out.
    private(set) var isInRefusedContent = false

    /// Bytes that were taken and not handed out; they are forgotten here.
    mutating func takeUnread() -> [UInt8] {
        defer { forgetHead() }
        if case .chunked(var chunks) = state {
            let line = chunks.takeLine()
            state = .chunked(chunks)
            return line
        }
        return gathered
    }

    /// Reads from `offset` on, to the next step.
    mutating func read(_ input: UnsafeRawBufferPointer, from offset: inout Int) -> Step {
        switch state {
        case .head, .ended:
            state = .head
            return readHead(input, from: &offset)
        case .length(let remaining):
            if remaining == 0 { return end() }
            let count = min(remaining, input.count - offset)
            guard count > 0 else { return .needsInput }
            let content = Array(input[offset..<offset + count])
            offset += count
            state = .length(remaining: remaining - count)
            return .content(content)
        case .chunked(var chunks):
            if chunks.isEnded { return end() }
            // Taken out of the state, so that the reader's buffers are not copied.
            state = .ended
            var content: [UInt8] = []
            chunks.read(input, from: &offset, into: &content)
            if !content.isEmpty {
                state = .chunked(chunks)
                return .content(content)
            }
            if let refusal = chunks.fault {
                gathered = chunks.takeLine()
                isInRefusedContent = true
                state = .refused(refusal)
                return .refused(refusal)
            }
            state = .chunked(chunks)
            return chunks.isEnded ? end() : .needsInput
        case .refused(let refusal):
            return .refused(refusal)
        }
    }

    private mutating func end() -> Step {
        state = .ended
        return .ended
    }

    private mutating func forgetHead() {
        gathered.removeAll(keepingCapacity: gathered.capacity <= 16 << 10)
        lineStart = 0
        searched = 0
    }

    private mutating func readHead(_ input: UnsafeRawBufferPointer, from offset: inout Int) -> Step {
        if gathered.isEmpty {
            let start = offset
            while offset < input.count, input[offset] == 0x0D || input[offset] == 0x0A { offset += 1 }
            if offset > start { return .padding(Array(input[start..<offset])) }
        }
        guard offset < input.count else { return .needsInput }
        let before = gathered.count
        let taken = min(input.count - offset, Self.headLimit - before)
        gathered.append(contentsOf: input[offset..<offset + taken])
        do throws(RequestRefusal) {
            let end: Int?
            do throws(RequestRefusal) {
                end = try findEnd()
            } catch {
                offset += taken
                throw error
            }
            guard let end else {
                offset += taken
                return .needsInput
            }
            offset += end - before
            gathered.removeLast(gathered.count - end)
            let head = try RequestHead(gathered)
            forgetHead()
            switch head.framing {
            case .none: state = .length(remaining: 0)
            case .length(let count): state = .length(remaining: count)
            case .chunked: state = .chunked(RequestChunks())
            }
            return .head(head)
        } catch {
            state = .refused(error)
            return .refused(error)
        }
    }

    /// The offset after the empty line in `gathered`, if that has come. Judges the first line as soon as it is whole.
    private mutating func findEnd() throws(RequestRefusal) -> Int? {
        let found = gathered.withUnsafeBytes { bytes -> Result<Int?, RequestRefusal> in
            if lineStart == 0, !StartLine.mayBeginRequest(bytes) {
                return .failure(RequestRefusal(sentence: "The bytes are no HTTP/1 request."))
            }
            while let lineFeed = ByteSearch.first(0x0A, in: bytes, from: max(lineStart, searched)) {
                let isEmpty = lineFeed == lineStart || (lineFeed == lineStart + 1 && bytes[lineStart] == 0x0D)
                if lineStart == 0 {
                    let end = bytes[lineFeed - 1] == 0x0D ? lineFeed - 1 : lineFeed
                    do throws(RequestRefusal) {
                        _ = try RequestHead.requestLine(ArraySlice(bytes[..<end]))
                    } catch {
                        return .failure(error)
                    }
                }
                lineStart = lineFeed + 1
                if isEmpty { return .success(lineFeed + 1) }
            }
            searched = bytes.count
            guard bytes.count < Self.headLimit else {
                return .failure(
                    RequestRefusal(
                        status: 431, sentence: "The request's head is longer than \(Self.headLimit >> 10) KiB."))
            }
            return .success(nil)
        }
        return try found.get()
    }
}
