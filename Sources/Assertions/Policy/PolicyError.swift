/// What is wrong with a policy file: every fault that was found, each with its place.
public struct PolicyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One fault.
    public struct Issue: Hashable, Sendable {
        /// Line, counted from 1.
        public var line: Int
        /// Column, counted from 1.
        public var column: Int
        /// One sentence; names the nearest known word where a word is unknown.
        public var message: String
    }

    /// The file, as it was named.
    public var file: String
    /// The faults in the order of the file; at least one.
    public var issues: [Issue]

    /// One line a fault: `handoff.yml:3:5: unknown key "hots" — did you mean "hosts"?`.
    public var description: String {
        issues.map { "\(file):\($0.line):\($0.column): \($0.message)" }.joined(separator: "\n")
    }
}
