/// A type that the keys of a file fill in, starting from the defaults.
public protocol Fillable: SendableMetatype {
    /// The kinds that the files of this type distinguish, such as the kinds of handlers.
    associatedtype Kind: Hashable & Sendable = Never
    /// The defaults.
    init()
}

/// The time at which a changed value applies.
public struct Reload<Value> {
    /// Returns whether two values are equal, for a key that keeps its value until a restart; `nil`: a reload applies
    /// it.
    fileprivate let isSame: (@Sendable (Value, Value) -> Bool)?

    /// A reload applies the value.
    public static var atOnce: Reload { Reload(isSame: nil) }
}

extension Reload where Value: Equatable & Sendable {
    /// Only a restart applies the value.
    public static var restart: Reload { Reload { $0 == $1 } }
}

/// The single declaration of a key in a kind of file. It gives the reader, the shipped file and the lists of
/// pushrouterd.conf(5).
///
/// A closure names the place of the value, `{ $1(&$0.title) }`. Key paths would be built by the runtime at each start,
/// with the types on their way, and took a third of the time to read a configuration.
public struct Key<Target: Fillable>: Sendable {
    /// Passes the place in the target that a key fills in.
    public typealias Place<Value> = @Sendable (inout Target, (inout Value) -> Void) -> Void

    /// The section of the key.
    public let section: String
    /// The text before `=`.
    public let name: String
    /// Whether messages show the value.
    public let showsValue: Bool
    /// The kinds that the key applies to; empty: all.
    public let kinds: [Target.Kind]
    /// The default in the form of files; empty: no form of files can express it.
    public let standard: String
    /// The description for people, with quotes in backticks; the shipped file has its first sentence. Empty: the
    /// description of the key before covers both.
    public let meaning: String
    /// Whether further values add to earlier ones instead of replacing them.
    let accumulates: Bool
    fileprivate let assign: @Sendable (inout Target, String) throws(ValueError) -> Void
    /// Resets the key to its default; an empty value calls this.
    fileprivate let reset: @Sendable (inout Target) -> Void
    /// Copies the first target's value to the second and returns whether it differed; `nil` for a key that a reload
    /// applies.
    fileprivate let keep: (@Sendable (Target, inout Target) -> Bool)?
}

extension Key {
    /// Whether only a restart applies a changed value.
    public var waitsForRestart: Bool { keep != nil }

    /// Declares a key with one value; the last one counts.
    public init<Value>(
        _ section: String, _ name: String, _ place: @escaping Place<Value>,
        _ form: Form<Value>, showsValue: Bool = true, for kinds: [Target.Kind] = [], reload: Reload<Value> = .atOnce,
        default standard: String = "", meaning: String = ""
    ) {
        let keep = reload.isSame.map { isSame in
            { @Sendable (old: Target, new: inout Target) in Self.keep(old, &new, place, isSame) }
        }
        self.init(
            section: section, name: name, showsValue: showsValue, kinds: kinds, standard: standard, meaning: meaning,
            accumulates: false,
            assign: { target, text throws(ValueError) in
                let parsed = try form.parse(text)
                place(&target) { $0 = parsed }
            }, reset: { Self.reset(&$0, place) }, keep: keep)
    }

    /// Declares a key whose values add up to a list.
    public init<Element>(
        _ section: String, _ name: String, addingTo place: @escaping Place<[Element]>,
        _ form: Form<[Element]>, showsValue: Bool = true, for kinds: [Target.Kind] = [], default standard: String = "",
        meaning: String = ""
    ) {
        self.init(
            section: section, name: name, showsValue: showsValue, kinds: kinds, standard: standard, meaning: meaning,
            accumulates: true,
            assign: { target, text throws(ValueError) in
                let parsed = try form.parse(text)
                place(&target) { $0 += parsed }
            }, reset: { Self.reset(&$0, place) }, keep: nil)
    }

    /// Returns the key for a file whose target contains this one. A reload applies its value.
    ///
    /// - Parameters:
    ///   - place: the place of this target in the whole.
    ///   - kinds: the kinds that the key applies to.
    public func within<Whole>(_ place: @escaping Key<Whole>.Place<Target>, for kinds: [Whole.Kind]) -> Key<Whole> {
        Key<Whole>(
            section: section, name: name, showsValue: showsValue, kinds: kinds, standard: standard, meaning: meaning,
            accumulates: accumulates,
            assign: { [assign] whole, text throws(ValueError) in
                var fault: ValueError?
                place(&whole) { target in
                    do throws(ValueError) { try assign(&target, text) } catch { fault = error }
                }
                if let fault { throw fault }
            }, reset: { [reset] in place(&$0, reset) }, keep: nil)
    }

    private static func reset<Value>(_ target: inout Target, _ place: Place<Value>) {
        guard let value = value(of: Target(), place) else { return }
        place(&target) { $0 = value }
    }

    private static func keep<Value>(
        _ old: Target, _ new: inout Target, _ place: Place<Value>, _ isSame: (Value, Value) -> Bool
    ) -> Bool {
        guard let kept = value(of: old, place), let value = value(of: new, place), !isSame(kept, value) else {
            return false
        }
        place(&new) { $0 = kept }
        return true
    }

    private static func value<Value>(of target: Target, _ place: Place<Value>) -> Value? {
        var target = target
        var value: Value?
        place(&target) { value = $0 }
        return value
    }
}

/// The keys of one kind of file: the table for reading it and for recognizing typing errors.
public struct Schema<Target: Fillable>: Sendable {
    /// The keys in the order of the output.
    public let keys: [Key<Target>]
    /// The section and the name of each key, and its name among the lines. Its type does not depend on the target's.
    private let places: [(section: String, name: String, line: String)]
    /// Returns why an unknown key is an error, by its section and name; `nil`: it is only ignored.
    private let objection: @Sendable (_ section: String, _ key: String) -> String?

    /// - Parameters:
    ///   - keys: the keys in the order of the output.
    ///   - objection: returns why an unknown key is an error; `nil`: it is only ignored.
    public init(
        keys: [Key<Target>],
        objection: @escaping @Sendable (_ section: String, _ key: String) -> String? = { _, _ in nil }
    ) {
        self.keys = keys
        self.objection = objection
        var counts: [String: Int] = [:]
        for key in keys { counts[key.name, default: 0] += 1 }
        places = keys.map { key in
            let isAlone = counts[key.name] == 1
            return (key.section, key.name, isAlone ? key.name : "\(key.section).\(key.name)")
        }
    }

    /// Reads the bytes of a file into `target`.
    ///
    /// - Returns: the line of the last assignment to each key, even of a wrong value, by the key's name, or by
    ///   `Section.Name` if several sections have that name; `nil` if the file is not text.
    public func read(_ bytes: [UInt8], into target: inout Target, report: inout FileReport) -> [String: Int]? {
        guard let raw = INIFile(parsing: bytes, report: &report) else { return nil }
        var lines: [String: Int] = [:]
        for section in raw.sections {
            if places.contains(where: { $0.section == section.name }) {
                for assignment in section.assignments {
                    apply(assignment, of: section.name, to: &target, lines: &lines, report: &report)
                }
            } else {
                report.warning(
                    "unknown section [\(printable(section.name))], ignored with all its keys"
                        + suggestion(for: section.name, among: Set(keys.map(\.section))) { "[\($0)]" },
                    line: section.line)
            }
        }
        return lines
    }

    /// Copies the values of the keys that wait for a restart from `old` to `new`.
    ///
    /// - Returns: the keys with another value in `new`.
    public func keep(of old: Target, in new: inout Target) -> [Key<Target>] {
        keys.filter { $0.keep?(old, &new) ?? false }
    }

    private func apply(
        _ assignment: INIFile.Assignment, of section: String, to target: inout Target, lines: inout [String: Int],
        report: inout FileReport
    ) {
        guard let index = places.firstIndex(where: { $0.section == section && $0.name == assignment.key }) else {
            if let reason = objection(section, assignment.key) {
                report.error("\(printable(assignment.key))= in [\(section)]: \(reason)", line: assignment.line)
                return
            }
            report.warning(
                "unknown key \(printable(assignment.key))= in [\(section)], ignored"
                    + advice(on: assignment.key, in: section),
                line: assignment.line)
            return
        }
        let (key, place) = (keys[index], places[index].line)
        guard !assignment.value.isEmpty else {
            key.reset(&target)
            lines[place] = nil
            return
        }
        // Computed only for messages: most files have none.
        var shown: String { "\(key.name)=\(key.showsValue ? printable(assignment.value, limit: 60) : "")" }
        if !key.accumulates, let earlier = lines[place] {
            report.warning("\(shown): replaces the \(key.name)= of line \(earlier)", line: assignment.line)
        }
        lines[place] = assignment.line
        do {
            try key.assign(&target, assignment.value)
        } catch {
            let hint = hasTrailingComment(assignment.value) ? "; a comment needs a line of its own" : ""
            report.error("\(shown): \(error.reason)\(hint)", line: assignment.line)
        }
    }

    private func advice(on name: String, in section: String) -> String {
        if let elsewhere = keys.first(where: { $0.name == name }) { return "; it belongs in [\(elsewhere.section)]" }
        return suggestion(for: name, among: keys.filter { $0.section == section }.map(\.name)) { "\($0)=" }
    }
}

/// Returns whether the value seems to end in a comment, which this syntax does not have.
private func hasTrailingComment(_ value: String) -> Bool {
    let words = Array(value.utf8)[...].split(whereSeparator: \.isWhitespace)
    return words.dropFirst().contains { $0.first == UInt8(ascii: "#") }
}

extension Schema {
    /// Returns the known keys of a file again, without comments and empty sections.
    ///
    /// - Parameters:
    ///   - bytes: the file. Of one that is no text nothing is left.
    ///   - value: returns the new value of a key; `nil` leaves the key out.
    public func copy(of bytes: [UInt8], _ value: (Key<Target>, String) -> String?) -> [UInt8] {
        // An empty file masks another one, and so does its copy.
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
