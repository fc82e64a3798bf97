public import PushModel

/// The program that made a report, and the time: a page attached to a ticket has no other source for them.
public struct ReportMaker: Hashable, Sendable {
    /// The program with its version.
    public let program: String
    /// The name of the machine that it ran on.
    public let host: String
    /// The time of the report.
    public let time: WallTime

    /// Joins the fields.
    public init(program: String, host: String, time: WallTime) {
        (self.program, self.host, self.time) = (program, host, time)
    }

    /// Returns `Made by pushctl 0.2.0 on shop-1 at 2026-11-21 10:00:00 +01:00`.
    func text(_ zone: LocalZone) -> String { "Made by \(program) on \(host) at \(zone.text(time))" }
}

extension LocalZone {
    /// Returns the paragraph with a page's maker, below its window; empty without a maker.
    func markup(_ maker: ReportMaker?) -> String {
        maker.map { "<p class=\"soft\">\(PushViews.markup($0.text(self)))</p>\n" } ?? ""
    }
}
