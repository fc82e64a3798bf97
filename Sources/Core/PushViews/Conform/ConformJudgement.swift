import PushModel

/// A fault that a team knows: a line `NAME: reason` of its file, whose name may be a pattern.
public struct KnownFault: Sendable {
    let pattern: Glob
    let reason: String
    /// The place of the line, for people.
    let place: String

    /// Reads a line.
    ///
    /// - Parameter place: the file and the number of the line.
    /// - Returns: `nil` for an empty line and one that begins with `#`.
    public init?(_ line: String, at place: String) throws(ConformError) {
        guard !line.isEmpty, !line.hasPrefix("#") else { return nil }
        guard let colon = line.indices.first(where: { line[$0...].hasPrefix(": ") }) else {
            throw ConformError("reason", "it is missing; a line is written as \"NAME: reason\"")
        }
        (pattern, self.place) = (Glob(String(line[..<colon])), place)
        reason = String(line[colon...].dropFirst(2))
    }
}

/// The results of a team's tests beside the cases, judged.
public struct ConformJudgement: Sendable {
    /// The end of a case. The raw values are those of the JSON.
    enum Status: String, Sendable, CaseIterable {
        case passed, failed
        /// It fails, as the team's file says.
        case known
        /// It passes, though the team's file says that it fails.
        case unexpectedPass = "unexpected_pass"
        case skipped
        /// The platform calls no code of the app.
        case noCall = "no_call"
    }

    struct Verdict: Sendable {
        let judged: JudgedCase
        let status: Status
        var faults: [ConformFault] = []
        /// The reason of a known fault, or of a case that was not run.
        var reason: String?
        var notes: [ConformFault] { faults.filter(\.rule.isNote) }
    }

    let heading: ConformHeading
    /// One for each case, in the order of the cases.
    let verdicts: [Verdict]
    /// The entries of the team's file that match no case.
    let unmatched: [KnownFault]

    /// Whether the dispatcher does what the model wants, or fails as the team knows.
    public var isAsExpected: Bool {
        unmatched.isEmpty && !verdicts.contains { $0.status == .failed || $0.status == .unexpectedPass }
    }

    /// Judges.
    ///
    /// - Parameters:
    ///   - heading: of the file of cases.
    ///   - cases: in their order; names are unique.
    ///   - results: by name; each has a case.
    ///   - known: the faults that the team knows.
    public init(
        _ heading: ConformHeading, _ cases: [JudgedCase], _ results: [String: ConformResult], known: [KnownFault]
    ) {
        self.heading = heading
        verdicts = cases.map { Self.verdict(on: $0, results[$0.name], known) }
        unmatched = known.filter { entry in !cases.contains { entry.pattern.matches($0.name) } }
    }

    private static func verdict(
        on judged: JudgedCase, _ result: ConformResult?, _ known: [KnownFault]
    ) -> Verdict {
        if let reason = result?.skipped { return Verdict(judged: judged, status: .skipped, reason: reason) }
        guard judged.callback != nil else { return Verdict(judged: judged, status: .noCall) }
        let faults =
            result.map(judged.faults)
            ?? [ConformFault(.notRun, "the results have no line for it; a line may say skipped")]
        let entry = known.first { $0.pattern.matches(judged.name) }
        let status: Status =
            switch (faults.allSatisfy(\.rule.isNote), entry) {
            case (true, nil): .passed
            case (true, _?): .unexpectedPass
            case (false, nil): .failed
            case (false, _?): .known
            }
        return Verdict(
            judged: judged, status: status, faults: faults, reason: entry.map { "\($0.reason) (\($0.place))" })
    }

    func count(_ status: Status) -> Int { verdicts.count { $0.status == status } }
}
