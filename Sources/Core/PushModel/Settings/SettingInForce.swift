/// A setting of a configuration, with the place that it comes from.
public struct SettingInForce: Hashable, Sendable {
    /// The section of the key.
    public let section: String
    /// The key.
    public let key: String
    /// The value as the file has it, or the default; `nil`: the value may hold a secret, and is not shown.
    public let value: String?
    /// The file and the line that set it; `nil`: it is the default.
    public let place: Place?

    /// A line of a file.
    public struct Place: Hashable, Sendable {
        /// The path of the file.
        public let file: String
        /// The line, from 1.
        public let line: Int
    }
}

extension Schema {
    /// Returns the settings of files that are read one after the other, by the rules of ``read(_:into:report:)``: the last
    /// value of a key counts, and an empty value is the default. A key whose values add up has one setting for each line.
    ///
    /// - Parameters:
    ///   - files: the files in their order.
    ///   - hasUnset: whether keys are listed that no file sets and that have no default.
    ///   - applies: whether a key has a meaning in these files.
    public func settingsInForce(
        _ files: [(path: String, bytes: [UInt8])], hasUnset: Bool,
        applies: (Key<Target>) -> Bool = { _ in true }
    ) -> [SettingInForce] {
        var lines: [String: [SettingInForce]] = [:]
        for file in files {
            // The mistakes are the business of `read`.
            var report = FileReport(file: file.path)
            for section in INIFile(parsing: file.bytes, report: &report)?.sections ?? [] {
                for assignment in section.assignments {
                    let name = "\(section.name).\(assignment.key)"
                    guard let key = keys.first(where: { $0.section == section.name && $0.name == assignment.key })
                    else { continue }
                    let setting = SettingInForce(
                        section: key.section, key: key.name, value: key.shown(assignment.value),
                        place: .init(file: file.path, line: assignment.line))
                    let earlier = key.accumulates ? lines[name] ?? [] : []
                    lines[name] = assignment.value.isEmpty ? nil : earlier + [setting]
                }
            }
        }
        return keys.filter(applies).flatMap { key in
            let byDefault = SettingInForce(section: key.section, key: key.name, value: key.standard, place: nil)
            return lines["\(key.section).\(key.name)"] ?? (hasUnset || !key.standard.isEmpty ? [byDefault] : [])
        }
    }
}

extension Key {
    /// A value for people; `nil` if it may hold a secret. The path of a secret's file holds none.
    fileprivate func shown(_ value: String) -> String? {
        showsValue || value.utf8.first == UInt8(ascii: "/") ? value : nil
    }
}
