public import PushModel

/// Who made a report, and when: a page that is attached to a ticket does not say it otherwise.
public struct ReportMaker: Hashable, Sendable {
    /// The program with its version.
    public let program: String
    /// The name of the machine that it ran on.
    public let host: String
    /// When.
    public let time: WallTime

    /// Joins the parts.
    public init(program: String, host: String, time: WallTime) {
        (self.program, self.host, self.time) = (program, host, time)
    }

    /// `Made by pushctl 0.2.0 on shop-1 at 2026-11-21 10:00:00 +01:00`.
    func text(_ zone: LocalZone) -> String { "Made by \(program) on \(host) at \(zone.text(time))" }
}

extension LocalZone {
    /// Who made a page and when, below its window; empty where nobody said so.
    func markup(_ maker: ReportMaker?) -> String {
        maker.map { "<p class=\"soft\">\(PushReporting.markup($0.text(self)))</p>\n" } ?? ""
    }
}
