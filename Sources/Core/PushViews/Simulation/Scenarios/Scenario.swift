public import PushModel
import PushRouter

/// A test of pushes: requests with times, and expectations of their results.
///
/// One JSON object per line: a request as for `Simulator`; `{"expect":{...}}`; and, in the first line only,
/// `{"scenario":"what it shows","mode":"relay"}`.
public struct Scenario: Sendable {
    enum Line: Sendable {
        case request(Step)
        /// A line that is no valid request: the simulation answers it with this error.
        case refused(ProtocolError)
        case expectation(Expectation)
        /// A crash of the daemon and its restart.
        case crash(Crash)
    }

    /// The purpose of the scenario, in the author's words.
    public let title: String?
    /// The mode, `device` or `relay`; `nil`: the configured one.
    public let mode: DispatchMode?
    /// The lines with their numbers, without the first line and empty ones.
    let lines: [(number: Int, line: Line)]

    /// Reads a scenario.
    ///
    /// - Parameters:
    ///   - text: its lines without line feeds.
    ///   - limits: the limits of JSON in a request.
    /// - Throws: `ScenarioError`; a faulty request is no error here, because the simulation answers it with its error.
    public init(_ text: [[UInt8]], limits: JSONLimits = JSONLimits()) throws(ScenarioError) {
        var lines: [(number: Int, line: Line)] = []
        var head: (title: String?, mode: DispatchMode?)
        var latest: WallTime?
        var isFirst = true
        for (index, bytes) in text.enumerated() where !bytes.allSatisfy(\.isJSONWhiteSpace) {
            defer { isFirst = false }
            let root = try? JSONDocument(scanning: bytes, limits: limits).root
            do throws(ExpectationError) {
                if let root, root["scenario"] != nil {
                    guard isFirst else { throw ExpectationError("scenario: only the first line may have it") }
                    head = try Self.head(root)
                    continue
                }
                let line = try Line(bytes, root, limits: limits)
                if case .expectation(let expectation) = line, let at = expectation.at, let latest, at < latest {
                    throw ExpectationError("at: this is earlier than the time of a line before; put the lines in order")
                }
                latest = line.at.map { max($0, latest ?? $0) } ?? latest
                lines.append((index + 1, line))
            } catch {
                throw ScenarioError(line: index + 1, message: error.message)
            }
        }
        for index in lines.indices {
            guard case .refused(let error) = lines[index].line, error.isUnreadable,
                !Self.expectsError(after: index, in: lines)
            else { continue }
            let comment = text[lines[index].number - 1].drop(while: \.isJSONWhiteSpace).starts(with: "//".utf8)
            let help = comment ? "; \"name\" beside \"expect\" says what it shows" : ""
            throw ScenarioError(line: lines[index].number, message: error.message + help)
        }
        guard lines.contains(where: { $0.line.isExpectation }) else {
            throw ScenarioError(
                line: nil, message: "the scenario expects nothing: add at least one {\"expect\":{...}}")
        }
        (title, mode) = head
        self.lines = lines
    }

    /// Returns the mode in the first line; `nil` if it names none, or is no first line.
    ///
    /// - Throws: `ProtocolError` for an unknown mode.
    static func mode(_ root: JSONNode) throws(ProtocolError) -> DispatchMode? {
        guard root["scenario"] != nil, let node = root["mode"] else { return nil }
        guard let mode = node.string.flatMap(DispatchMode.init(rawValue:)) else {
            throw ProtocolError(.invalidValue, field: "mode", message: "mode is device or relay")
        }
        return mode
    }

    /// Whether an expectation between this line and the next request is about its error.
    static func expectsError(after index: Int, in lines: [(number: Int, line: Line)]) -> Bool {
        lines[(index + 1)...].prefix { $0.line.isExpectation }.contains { $0.line.expectsError }
    }

    private static func head(_ root: JSONNode) throws(ExpectationError) -> (title: String?, mode: DispatchMode?) {
        for (key, _) in root.members where !["scenario", "mode"].contains(key) {
            throw ExpectationError("\(key): the first line has only scenario and mode")
        }
        guard let title = root["scenario"]?.string else {
            throw ExpectationError("scenario: must be a string that says what the scenario shows")
        }
        do throws(ProtocolError) {
            return (title, try mode(root))
        } catch {
            throw ExpectationError("mode: must be device or relay")
        }
    }
}

extension ProtocolError {
    /// Whether the line is not even an object, so that its purpose is unknown.
    fileprivate var isUnreadable: Bool {
        switch code {
        case .invalidJSON, .invalidUTF8, .tooDeep, .tooLong, .duplicateKey: true
        case .invalidType: field == nil
        default: false
        }
    }
}

/// The reason why a scenario cannot be read.
public struct ScenarioError: Error, Hashable, Sendable {
    /// The line number, from 1; `nil` for the whole scenario.
    public let line: Int?
    /// The fault and its remedy.
    public let message: String
}

extension Scenario.Line {
    fileprivate init(_ bytes: [UInt8], _ root: JSONNode?, limits: JSONLimits) throws(ExpectationError) {
        if let root, root["expect"] != nil {
            self = .expectation(try Expectation(root))
            return
        }
        do throws(ProtocolError) {
            if let crash = try Crash.read(root) {
                self = .crash(crash)
            } else {
                self = .request(try Step(bytes, limits: limits))
            }
        } catch {
            self = .refused(error)
        }
    }

    /// The time of the line; `nil` if it has none.
    var at: WallTime? {
        switch self {
        case .request(let step): step.at
        case .expectation(let expectation): expectation.at
        case .crash(let crash): crash.at
        case .refused: nil
        }
    }

    var isExpectation: Bool {
        if case .expectation = self { true } else { false }
    }

    /// Whether it is an expectation about the error of the previous request.
    var expectsError: Bool {
        if case .expectation(let expectation) = self, case .error = expectation.condition { true } else { false }
    }
}

/// A line of a scenario that crashes the daemon and restarts it: `{"at":1000,"crash":{"down_ms":2500,"reboot":true}}`.
///
/// All decisions before it are recorded. Running handlers are lost; the restart recovers unfinished requests as a start
/// of the daemon does.
struct Crash: Sendable {
    /// The time of the crash. Timers due at this time have not fired.
    var at: WallTime
    /// The time until the restart.
    var downtime: Duration = .zero
    /// Whether the machine rebooted in between: then waiting invocations have no time left.
    var reboots = false

    /// - Throws: `ProtocolError` with the fault of the line.
    init(_ root: JSONNode) throws(ProtocolError) {
        for (key, _) in root.members where !["at", "crash"].contains(key) {
            throw ProtocolError(.unknownKey, field: key, message: "a line with crash has only at beside it")
        }
        guard let node = root["at"] else {
            throw ProtocolError(
                .missingKey, field: "at", message: "at is missing: each line of a simulation needs its time")
        }
        let time = node.string.map(WallTime.init(rfc3339:)) ?? node.int64.map(WallTime.init(milliseconds:))
        guard let at = time, Step.span.contains(at.milliseconds) else {
            throw ProtocolError(
                .invalidValue, field: "at",
                message: "at is RFC 3339 or Unix milliseconds, of the years 1970 to 2200")
        }
        self.at = at
        guard let crash = root["crash"], crash.kind == .object else {
            throw ProtocolError(
                .invalidType, field: "crash", message: "crash is an object: {\"down_ms\":2500,\"reboot\":true}, or {}")
        }
        for (key, value) in crash.members {
            switch key {
            case "down_ms":
                guard let milliseconds = value.int64, 0...86_400_000 ~= milliseconds else {
                    throw ProtocolError(
                        .invalidValue, field: "crash.down_ms", message: "down_ms is a whole number from 0 to 86400000")
                }
                downtime = .milliseconds(milliseconds)
            case "reboot":
                guard let reboots = value.bool else {
                    throw ProtocolError(.invalidType, field: "crash.reboot", message: "reboot is true or false")
                }
                self.reboots = reboots
            default:
                throw ProtocolError(
                    .unknownKey, field: "crash.\(key)", message: "crash has down_ms and reboot")
            }
        }
    }

    /// The time of the restart.
    var end: WallTime { WallTime(milliseconds: at.milliseconds + downtime.milliseconds) }

    /// Reads a line with a crash; returns `nil` for any other line.
    static func read(_ root: JSONNode?) throws(ProtocolError) -> Crash? {
        guard let root, root["op"] == nil, root["crash"] != nil else { return nil }
        return try Crash(root)
    }
}
