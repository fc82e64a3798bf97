public import PushModel

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
