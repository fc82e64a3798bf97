/// Finds scenario files.
enum ScenarioFiles {
    /// The ends of the names of scenarios in a directory; a file that is named itself may have any name.
    static let suffixes = [".jsonl", ".ndjson"]

    /// The scenarios that an operand stands for: itself, or those in the directory and below it, by name. What begins with
    /// a dot is left out, and links to directories are not followed.
    static func list(_ operand: String) throws(Failure) -> [String] {
        guard Directory.exists(operand) else { return [operand] }
        let files = try Directory.files(below: operand).filter { suffixes.contains(where: $0.hasSuffix) }
        guard !files.isEmpty else {
            throw Failure(
                .noInput, "\(operand): no scenario in it: its files end in \(suffixes.joined(separator: " or "))")
        }
        return files
    }

    /// The configuration that lies beside a scenario, in a directory `config`; `nil` when there is none.
    static func configuration(beside file: String) -> String? {
        let directory = file.lastIndex(of: "/").map { String(file[...$0]) } ?? ""
        let path = directory + "config"
        return Directory.exists(path) ? path : nil
    }
}
