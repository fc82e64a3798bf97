extension Schema {
    /// Returns the known keys of a file again, without comments.
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
            text += "[\(section.name)]\n"
            for assignment in section.assignments {
                guard let key = keys.first(where: { $0.section == section.name && $0.name == assignment.key }) else {
                    continue
                }
                // An empty value resets the key.
                guard !assignment.value.isEmpty else {
                    text += "\(key.name)=\n"
                    continue
                }
                if let value = value(key, assignment.value) { text += "\(key.name)=\(value)\n" }
            }
        }
        return Array(text.utf8)
    }
}
