/// Why coded content could not be decoded any further. What was decoded before has already been handed out.
public struct ContentCodingError: Error, Hashable, Sendable {
    /// The kinds of trouble.
    public enum Code: String, Hashable, Sendable {
        /// The bytes break the coding's format, or a checksum in them is wrong.
        case corrupt
        /// They can only be decoded with a dictionary that was not given.
        case needsDictionary
        /// The output grew beyond the expansion limit.
        case expansionLimit
        /// They ask for more memory (a larger window) than is allowed.
        case tooMuchMemory
    }

    /// What kind of trouble.
    public var code: Code
    /// How many bytes of the coded input had been consumed.
    public var offset: Int
    /// The library's own words, or ours.
    public var detail: String

    /// Makes an error.
    public init(code: Code, offset: Int, detail: String) {
        self.code = code
        self.offset = offset
        self.detail = detail
    }
}
