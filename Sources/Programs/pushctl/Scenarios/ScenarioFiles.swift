import PushViews

/// Finds scenario files.
enum ScenarioFiles {
    /// The suffixes of scenarios in a directory; an operand may have any suffix.
    static let suffixes = [".jsonl", ".ndjson"]

    /// The scenarios of an operand: the file itself, or the files in the directory and below it, sorted by name. Skips
    /// names that begin with a dot, and follows no symbolic links to directories.
    static func list(_ operand: String) throws(Failure) -> [String] {
        guard Directory.exists(operand) else { return [operand] }
        let files = try Directory.files(below: operand).filter { suffixes.contains(where: $0.hasSuffix) }
        guard !files.isEmpty else {
            throw Failure(
                .noInput,
                "\(operand): no scenario in this directory: scenario files end in \(suffixes.joined(separator: " or "))"
            )
        }
        return files
    }

    /// The directory `config` beside a scenario; `nil` if there is none.
    static func configuration(beside file: String) -> String? {
        let directory = file.lastIndex(of: "/").map { String(file[...$0]) } ?? ""
        let path = directory + "config"
        return Directory.exists(path) ? path : nil
    }
}
