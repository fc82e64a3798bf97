import LedgerReports
import PushModel
import PushSettings
import PushViews
import Store

extension Command {
    static let campaigns = Command(
        name: "campaigns", summary: "show opens, clicks and recipients of Braze's campaigns",
        description: [
            """
            Prints the figures of each campaign: deliveries, direct and influenced opens, clicks by button, and \
            recipients, also by day. Below them it prints the lost opens, with the reason, by campaign and by day, and \
            the taps that belong to no campaign. It reads the ledger in the state directory, with or without a daemon. \
            pushctl-campaigns(1) explains each figure.
            """,
            """
            A press on a button that closes the notification is a click, not an open. A push that was opened in both \
            ways counts once in the total, as direct. Rates are shares of the received pushes. Influenced opens follow \
            the rules in [Tracker] of pushrouterd.conf(5), because Braze's own rules are not public.
            """,
            """
            \(LocalTime.forms) An event counts at the time when it happened: with --since, an open may belong to a \
            push that was received before. A tap on an unknown push, or on a push without a campaign, belongs to no \
            campaign, so --campaign leaves it out.
            """,
            """
            The format html is one page without scripts. The format csv has a row for each campaign, or with --by a row \
            for each day, platform or other value of each campaign; recipients do not add up. A row without a campaign \
            counts the taps that belong to none; lost opens are known by campaign and day alone. The columns have the \
            names of the figures in JSON. The exit status is 1 when no campaign matches --campaign.
            """,
        ],
        operands: .none,
        options: [
            .campaign, .by, .names, .since.meaning("only events at this time or later"),
            .until.meaning("only events before this time"), .utc, .format.allowing(["text", "json", "html", "csv"]),
            .json,
        ],
        examples: [
            Example(line: "pushctl campaigns --since today", meaning: "the campaigns of today"),
            Example(
                line: "pushctl campaigns --campaign summer --by platform", meaning: "the campaign summer, by platform"),
            Example(line: "pushctl campaigns --json", meaning: "all figures, for programs"),
            Example(line: "pushctl campaigns --format html > campaigns.html", meaning: "a page for a browser"),
            Example(line: "pushctl campaigns --by day --format csv > campaigns.csv", meaning: "for a spreadsheet"),
        ]
    ) { arguments, session throws(Failure) in
        let format = arguments[.format] ?? (arguments.has(.json) ? "json" : "text")
        if arguments.has(.json), format != "json" {
            throw arguments.usageFailure("--json and --format \(format) exclude each other")
        }
        let settings = session.settingsOfReport()
        let selection = CampaignReport.Selection(
            campaign: arguments[.campaign], field: arguments.word(.by, EventField.self),
            idRule: settings.campaignIDRule)
        var report = CampaignReport(window: try arguments.window(), selection: selection, zone: arguments.zone)
        report.names = try session.campaignNames(arguments).names
        try session.reading { ledger throws(StoreError) in
            try ledger.snapshot { () throws(StoreError) in try report.read(ledger, settings.routing) }
        }
        if let objection = report.objection { throw Failure(.no, objection) }
        switch format {
        case "json": session.output.write(document: report.json)
        case "html":
            report.maker = .current
            session.output.write(report.html.utf8)
        case "csv": session.output.write(report.csv.utf8)
        default:
            let output = session.output
            output.print(report.lines(TextStyle(width: output.width, usesUnicode: output.usesUnicode)))
        }
        return .done
    }
}

extension Session {
    /// The settings; defaults if the configuration is wrong, because the ledger can be read without it.
    func settingsOfReport() -> Settings {
        do {
            return try settings()
        } catch {
            output.note(
                "\(error.message)\nthe report uses the default of CampaignIdRule=, and the built-in providers"
            )
            return Settings()
        }
    }
}
