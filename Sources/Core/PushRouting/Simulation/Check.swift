/// One thing that a scenario expected, and what came.
package struct Check: Hashable, Sendable {
    /// What came instead.
    package struct Failure: Hashable, Sendable {
        /// In a sentence.
        package let message: String
        /// The decided lines that come nearest, or that should not be there, each with what is wrong about it.
        package let lines: [String]

        init(_ message: String, _ lines: [String] = []) {
            self.message = message
            self.lines = lines
        }
    }

    /// The line of the scenario, from 1.
    package let line: Int
    /// What it shows, in the author's words.
    package let name: String?
    /// What was expected, as it is written.
    package let expected: String
    /// What came instead; `nil` when it holds.
    package let failure: Failure?
}
