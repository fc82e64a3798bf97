import PushModel

/// What a file's keys fill in, starting from the defaults.
public protocol Fillable: SendableMetatype {
    /// What the files of one kind may describe differently, such as the kinds of handlers.
    associatedtype Kind: Hashable & Sendable = Never
    /// What holds where no file says otherwise.
    init()
}

/// When a changed value counts.
public struct Reload<Value> {
    /// Whether two values are the same, for a key that keeps its value until the daemon starts again; `nil`: a reload puts
    /// it in force.
    fileprivate let isSame: (@Sendable (Value, Value) -> Bool)?

    /// A reload puts it in force.
    public static var atOnce: Reload { Reload(isSame: nil) }
}

extension Reload where Value: Equatable & Sendable {
    /// The next start does.
    public static var restart: Reload { Reload { $0 == $1 } }
}

/// One key that a kind of file may hold: the one declaration of it. The reader, the shipped file and the lists of
/// pushrouterd.conf(5) are made of these.
///
/// Where its value goes a closure says, `{ $1(&$0.title) }`: key paths are built by the runtime at each start, with the
/// types that they lead through, which took a third of reading a configuration.
public struct Key<Target: Fillable>: Sendable {
    /// Hands over the place in the target that a key fills in.
    public typealias Place<Value> = @Sendable (inout Target, (inout Value) -> Void) -> Void

    /// The section that it stands in.
    public let section: String
    /// What stands before `=`.
    public let name: String
    /// Whether messages show the value, or only the key.
    fileprivate let showsValue: Bool
    /// The kinds that have a use for it; none: all have.
    public let kinds: [Target.Kind]
    /// What holds where no file says otherwise, as files write it; empty: nothing that a file could write.
    public let standard: String
    /// For people; plain words with quotes in backticks, whose first sentence the shipped file has too. Empty: what the key
    /// before it says is about both.
    public let meaning: String
    /// Whether further values add to the earlier ones rather than replace them.
    fileprivate let accumulates: Bool
    fileprivate let assign: @Sendable (inout Target, String) throws(ValueError) -> Void
    /// Back to the default, which is what an empty value asks for.
    fileprivate let reset: @Sendable (inout Target) -> Void
    /// Gives the second target the first one's value, and says whether it had another; `nil` for a key that a reload puts
    /// in force.
    fileprivate let keep: (@Sendable (Target, inout Target) -> Bool)?
}

extension Key {
    /// Whether a changed value counts from the next start on.
    public var waitsForRestart: Bool { keep != nil }

    /// A key with one value; the last one counts.
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

    /// A key whose values add up to a list.
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

    /// The same key of a file that describes more than this target. A reload puts its value in force.
    ///
    /// - Parameters:
    ///   - place: the target in the whole.
    ///   - kinds: the kinds that have a use for it.
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

/// The keys of one kind of file: the one table by which it is read, and by which typing errors are understood.
public struct Schema<Target: Fillable>: Sendable {
    /// In the order in which people are told of them.
    public let keys: [Key<Target>]
    /// Where each key stands, and what it is called among the lines. No type of the target's: a file is read by these.
    private let places: [(section: String, name: String, line: String)]
    /// Why a key that is not known must not be there at all, by its section and name; `nil`: it is only ignored.
    private let objection: @Sendable (_ section: String, _ key: String) -> String?

    /// - Parameters:
    ///   - keys: in the order in which people are told of them.
    ///   - objection: why a key that is not known must not be there at all; `nil`: it is only ignored.
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

    /// Fills `target` with what the bytes of a file say.
    ///
    /// - Returns: the line on which each key was last given, whether its value was right or not, by the key's name, or
    ///   by `Section.Name` where several sections have one of that name; `nil` when the file is not even text.
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

    /// Gives `new` what `old` has of the keys that wait for a restart.
    ///
    /// - Returns: those of which it had another value.
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
        // Only for messages, of which most files have none.
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

/// Whether the value looks like one with a comment after it, which this syntax does not have.
private func hasTrailingComment(_ value: String) -> Bool {
    let words = Array(value.utf8)[...].split(whereSeparator: \.isWhitespace)
    return words.dropFirst().contains { $0.first == UInt8(ascii: "#") }
}
