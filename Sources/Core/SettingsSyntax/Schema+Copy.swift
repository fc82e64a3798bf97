extension Schema {
    /// Returns the known keys of a file again, without comments and empty sections.
    ///
    /// - Parameters:
    ///   - bytes: the file. Of one that is no text nothing is left.
    ///   - value: returns the new value of a key; `nil` leaves the key out.
    public func copy(of bytes: [UInt8], _ value: (Key<Target>, String) -> String?) -> [UInt8] {
        // A mask stays a mask.
        guard !bytes.isEmpty else { return [] }
        var report = FileReport(file: "")
        var text = ""
        for section in INIFile(parsing: bytes, report: &report)?.sections ?? [] {
            var lines = ""
            for assignment in section.assignments {
                guard let key = keys.first(where: { $0.section == section.name && $0.name == assignment.key }),
                    let new = value(key, assignment.value)
                else { continue }
                // An empty value resets the key.
                lines += "\(key.name)=\(assignment.value.isEmpty ? "" : new)\n"
            }
            if !lines.isEmpty { text += "[\(section.name)]\n\(lines)" }
        }
        return Array(text.utf8)
    }
}
