/// One line for a terminal.
public struct ReportLine: Hashable, Sendable {
    /// The tone of a line; it selects the terminal's colour.
    public enum Tone: Sendable { case plain, heading, good, bad, warning, faint }

    /// The line, without colour and without its line feed.
    public let text: String
    /// The tone.
    public let tone: Tone

    /// Joins the two.
    public init(_ text: String, _ tone: Tone = .plain) {
        self.text = text
        self.tone = tone
    }
}

extension Outcome {
    /// The tone for a person: good if the work is done, bad if somebody has to act.
    public var tone: ReportLine.Tone {
        switch self {
        case .handled, .handedToTracker: .good
        case _ where isFailure || isMissed: .bad
        default: .warning
        }
    }
}
