/// Content after its codings were undone as far as they could be. The bytes on the wire stay the truth; this is a
/// reading of them.
public struct DecodedContent: Hashable, Sendable {
    /// Something that was not as it should be, and the coding at which it was met (its token).
    public enum Problem: Hashable, Sendable {
        /// The coded bytes end before the coding does; everything before was decoded.
        case truncated(String)
        /// The coded bytes are wrong from some place on; everything before was decoded.
        case corrupt(String, detail: String)
        /// Bytes follow the end of the coded content; they are not part of `bytes`.
        case trailingBytes(String, count: Int)
        /// The label was wrong: the content was not of this coding. `found` is what it was, nil for no coding at all.
        case mislabelled(String, found: String?)
        /// A token that names no coding that is read here.
        case unknownCoding(String)
        /// The output limit was reached.
        case outputLimit(String)
        /// The content grew out of proportion to its coded form.
        case expansionLimit(String)
        /// More codings on top of each other than `ContentCodings.chainLimit`.
        case tooManyCodings(Int)
    }

    /// The content, decoded as far as it could be.
    public var bytes: [UInt8]
    /// The codings that were undone, in the order of undoing.
    public var undone: [ContentDecoder.Coding]
    /// What was wrong, in the order in which it was met.
    public var problems: [Problem]

    /// Every coding was undone to its end.
    public var isWhole: Bool {
        problems.allSatisfy { problem in
            switch problem {
            case .mislabelled, .trailingBytes: true
            case .truncated, .corrupt, .unknownCoding, .outputLimit, .expansionLimit, .tooManyCodings: false
            }
        }
    }

    /// Makes a result.
    public init(bytes: [UInt8], undone: [ContentDecoder.Coding], problems: [Problem]) {
        self.bytes = bytes
        self.undone = undone
        self.problems = problems
    }
}

/// Undoing of a whole Content-Encoding at once.
public enum ContentCodings {
    /// Codings on top of each other that are undone.
    public static let chainLimit = 8

    /// The tokens of Content-Encoding field values, in the order in which they were applied (RFC 9110 §8.4), without
    /// `identity`.
    public static func tokens(_ fieldValues: [String]) -> [String] {
        fieldValues.flatMap { $0.split(separator: ",") }.compactMap { token in
            var trimmed = token.drop { $0 == " " || $0 == "\t" }
            while let last = trimmed.last, last == " " || last == "\t" { trimmed.removeLast() }
            let name = trimmed.lowercased()
            return name.isEmpty || name == "identity" ? nil : name
        }
    }

    /// The coding that the first bytes give away, if any. brotli and raw deflate have no mark and are never found.
    public static func sniff(_ bytes: UnsafeRawBufferPointer) -> ContentDecoder.Coding? {
        guard bytes.count >= 2 else { return nil }
        if bytes.count >= 3, bytes[0] == 0x1F, bytes[1] == 0x8B, bytes[2] == 8 { return .gzip }
        if bytes.count >= 4 {
            if bytes[0] == 0x28, bytes[1] == 0xB5, bytes[2] == 0x2F, bytes[3] == 0xFD { return .zstd }
            if bytes[0] & 0xF0 == 0x50, bytes[1] == 0x2A, bytes[2] == 0x4D, bytes[3] == 0x18 { return .zstd }
        }
        if [0x01, 0x5E, 0x9C, 0xDA].contains(bytes[1]), bytes[0] == 0x78 { return .deflate }
        return nil
    }

    /// Undoes `codings` (Content-Encoding tokens in the order applied, so the last is undone first), with at most `limit`
    /// bytes of output for each.
    ///
    /// Content that does not start as its coding demands is taken as mislabelled: decoded as what its first bytes say,
    /// or left as it is.
    public static func decodeAll(
        _ bytes: UnsafeRawBufferPointer, codings: [String], limit: Int,
        expansion: ContentDecoder.ExpansionLimit? = .message
    ) -> DecodedContent {
        var result = DecodedContent(bytes: [], undone: [], problems: [])
        guard codings.count <= chainLimit else {
            result.problems.append(.tooManyCodings(codings.count))
            result.bytes = Array(bytes)
            return result
        }
        var isUntouched = true
        for token in codings.reversed() where token.lowercased() != "identity" {
            guard let coding = ContentDecoder.Coding(token: token) else {
                result.problems.append(.unknownCoding(token))
                break
            }
            let undoneBefore = result.undone.count
            let input = result.bytes
            if isUntouched {
                result.undo(coding, of: bytes, limit: limit, expansion: expansion)
            } else {
                input.withUnsafeBytes { result.undo(coding, of: $0, limit: limit, expansion: expansion) }
            }
            if result.undone.count > undoneBefore { isUntouched = false }
        }
        if isUntouched { result.bytes = Array(bytes) }
        return result
    }

    /// The same for an array.
    public static func decodeAll(
        _ bytes: [UInt8], codings: [String], limit: Int, expansion: ContentDecoder.ExpansionLimit? = .message
    ) -> DecodedContent {
        bytes.withUnsafeBytes { decodeAll($0, codings: codings, limit: limit, expansion: expansion) }
    }
}

extension DecodedContent {
    /// Undoes one coding of `input`, or says why not; a wrong label leaves `bytes` as they are.
    fileprivate mutating func undo(
        _ coding: ContentDecoder.Coding, of input: UnsafeRawBufferPointer, limit: Int,
        expansion: ContentDecoder.ExpansionLimit?
    ) {
        guard !input.isEmpty else { return }
        let attempt = Attempt(coding, input, limit: limit, expansion: expansion)
        if attempt.isMislabelled {
            let found = ContentCodings.sniff(input).flatMap { $0 == coding ? nil : $0 }
            problems.append(.mislabelled(coding.rawValue, found: found?.rawValue))
            guard let found else { return }
            keep(Attempt(found, input, limit: limit, expansion: expansion), found)
        } else {
            keep(attempt, coding)
        }
    }

    private mutating func keep(_ attempt: Attempt, _ coding: ContentDecoder.Coding) {
        bytes = attempt.output
        undone.append(coding)
        if let problem = attempt.problem { problems.append(problem) }
    }
}

/// One coding undone over the whole of its input.
private struct Attempt {
    var output: [UInt8] = []
    var problem: DecodedContent.Problem?
    /// Not a byte came out before the format was broken.
    var isMislabelled = false

    /// Coded bytes fed at once when a second, careful pass saves what the library held back before an error.
    private static let carefulPiece = 16

    init(
        _ coding: ContentDecoder.Coding, _ input: UnsafeRawBufferPointer, limit: Int,
        expansion: ContentDecoder.ExpansionLimit?
    ) {
        problem = decode(coding, input, piece: max(1, input.count), limit: limit, expansion: expansion)
        guard case .corrupt = problem else { return }
        if coding == .brotli || coding == .zstd {
            output.removeAll(keepingCapacity: true)
            problem = decode(coding, input, piece: Self.carefulPiece, limit: limit, expansion: expansion)
        }
        isMislabelled = output.isEmpty
    }

    /// Decodes `input`, `piece` bytes at a time, and says what went wrong.
    private mutating func decode(
        _ coding: ContentDecoder.Coding, _ input: UnsafeRawBufferPointer, piece: Int, limit: Int,
        expansion: ContentDecoder.ExpansionLimit?
    ) -> DecodedContent.Problem? {
        var decoder = ContentDecoder(coding, expansion: expansion)
        let name = coding.rawValue
        // One byte more than allowed tells "just fits" from "goes on".
        let bound = max(0, min(limit, Int.max - 1))
        do throws(ContentCodingError) {
            var status = ContentDecoder.Status.needsInput
            while decoder.totalConsumed < input.count {
                let end = decoder.totalConsumed + min(piece, input.count - decoder.totalConsumed)
                let slice = UnsafeRawBufferPointer(rebasing: input[decoder.totalConsumed..<end])
                status = try decoder.decode(slice, into: &output, limit: bound + 1 - output.count).status
                if output.count > bound {
                    output.removeLast(output.count - bound)
                    return .outputLimit(name)
                }
                if status == .trailingBytes { break }
            }
            switch status {
            case .needsInput: return .truncated(name)
            case .atBoundary: return nil
            case .outputFull: return .outputLimit(name)
            case .trailingBytes: return .trailingBytes(name, count: input.count - decoder.totalConsumed)
            }
        } catch {
            switch error.code {
            case .expansionLimit: return .expansionLimit(name)
            case .corrupt, .needsDictionary, .tooMuchMemory: return .corrupt(name, detail: error.detail)
            }
        }
    }
}
