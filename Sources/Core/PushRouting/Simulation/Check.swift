/// One thing that a scenario expected, and what came.
public struct Check: Hashable, Sendable {
    /// What came instead.
    public struct Failure: Hashable, Sendable {
        /// In a sentence.
        public let message: String
        /// The decided lines that come nearest, or that should not be there, each with what is wrong about it.
        public let lines: [String]

        init(_ message: String, _ lines: [String] = []) {
            self.message = message
            self.lines = lines
        }
    }

    /// The line of the scenario, from 1.
    public let line: Int
    /// What it shows, in the author's words.
    public let name: String?
    /// What was expected, as it is written.
    public let expected: String
    /// What came instead; `nil` when it holds.
    public let failure: Failure?
}
