import PushModel

extension ReportDocument {
    /// The report for programs: the members of ``ComplianceReport/json(objective:)``, and those of the detail.
    public var json: [UInt8] {
        var writer = JSONWriter(reserving: 1 << 14)
        writer.object {
            $0.members(ComplianceReport.members, of: (report, serviceLevel?.objective))
            $0.members(Self.members, of: self)
        }
        return writer.line()
    }

    private typealias Member = ReportMember<ReportDocument>

    static let members: [ReportMember<ReportDocument>] = [
        Member(
            "answer", "string",
            "the number of late invocations, their handlers and the reasons, and whether the objective is met"
        ) {
            $1.string($0.answer)
        },
        Member(
            "misses_by_reason", "{*: positive}",
            "the number of missed deadlines by reason_code; none stands for a miss without a reason_code"
        ) { $0.detail.all.writeMissReasons(to: &$1) },
        Member(
            "from_acceptance", "kept",
            """
            due, missed and compliance against each invocation's deadline if it counted from acceptance, and if it \
            counted from the call of the callback
            """
        ) { source, writer in
            writer.object { $0.members(of: source.detail.fromAcceptance) }
        },
        Member("from_invocation", "kept", "") { source, writer in
            writer.object { $0.members(of: source.detail.fromInvocation) }
        },
        Member(
            "all", "figures",
            "the figures of all invocations but observers', in the form of by_handler"
        ) { $0.detail.all.write(to: &$1) },
        Member(
            "by_app", "{*: figures}",
            "as by_handler; none stands for a missing fact, in_flight for a missing outcome"
        ) { $1.groups($0.detail.breakdowns[0]) },
        Member("by_outcome", "{*: figures}", "") { $1.groups($0.detail.breakdowns[1]) },
        Member("by_transport", "{*: figures}", "") { $1.groups($0.detail.breakdowns[2]) },
        Member(
            "crossed", "[{dimensions: [string], groups: [{names: [string], figures: figures}], rest: integer}]",
            """
            a list with one object for each --by: dimensions, groups (names, figures) and rest, the number of \
            invocations in further groups than the first 1,000
            """
        ) { $1.list($0.crossed) { $0.write(to: &$1) } },
        Member(
            "timeline",
            """
            {width_s: integer, bounds_ms: [integer], spans: [{begin: string, accepted: integer, due: integer, \
            missed: integer, compliance: share?, bands: [integer]}]}
            """,
            """
            width_s, the length of a span; bounds_ms, the exclusive upper bounds of the latency bands; spans, those \
            with invocations: begin, accepted, due, missed, compliance, bands (a count for each band, the last one \
            without a bound)
            """
        ) { source, writer in
            writer.object { source.write(source.detail.timeline, to: &$0) }
        },
        Member(
            "misses",
            """
            [{seq: integer, n: integer, accepted_at: string, callback: string, provider: string?, route: string?, \
            handler: string?, app: string?, outcome: string?, reason_code: string?, queue_ms: number?, exec_ms: \
            number?, total_ms: number?, budget_ms: number?, ahead?: integer?, waited_for?: waited_for}]
            """,
            """
            the 200 slowest invocations that missed their deadline: seq, n, accepted_at, callback, provider, route, \
            handler, app, outcome, reason_code, queue_ms, exec_ms, total_ms, budget_ms; and, if it waited in its lane, \
            ahead and waited_for as in slowest
            """
        ) { $1.list($0.detail.misses.rows) { $0.write(to: &$1) } },
        Member(
            "waits", "[slow]",
            "the ten longest waits in a lane, in the form of slowest"
        ) { $1.list($0.report.longestWaits.rows) { $0.write(to: &$1) } },
        Member(
            "histograms",
            "{all: histograms, by_handler: {*: histograms}, by_route: {*: histograms}, by_provider: {*: histograms}}",
            """
            all, by_handler, by_route and by_provider, each with queue, exec and total: pairs of the shortest time \
            of a bucket in microseconds, and a count. --baseline reads them
            """
        ) { $1.object($0.writeHistograms) },
        Member(
            "error_budget",
            """
            {} | {left: number?, until: string?, burn_rates: {5m: amount?, 30m: amount?, 1h: amount?, 6h: amount?, \
            3d: amount?}, unrecorded: [string], alerts: [{severity: 'page' | 'ticket', long: string, short: \
            string, threshold: number}]}
            """,
            """
            empty without an objective; else left (1 is all of it, below 0 it is overdrawn), until, burn_rates (5m, \
            30m, 1h, 6h, 3d; null when nothing was due), unrecorded (windows of which less than half was recorded, by \
            which no alert goes) and alerts (severity, long, short, threshold)
            """
        ) { $1.object($0.writeBudget) },
        Member(
            "rows_begin", "string?",
            """
            Retention= or MaxSize= deleted the rows of the window before this time: only figures of whole minutes \
            count there, and lists of single invocations lack that time; null when the window has all of its rows, and \
            for the journal
            """
        ) { $1.text($0.detail.rowsBegin?.rfc3339) },
        Member(
            "clock_set_back", "integer?",
            "requests with an earlier time than the request before them; null for the journal",
            value: { $0.report.source == .ledger ? $0.detail.clockSetBack : nil }),
        Member(
            "daemon_gaps", "[{kind: \(words(DaemonGap.Kind.self)), begin: string, end: string, length_ms: number}]",
            """
            times that touch the window: kind (down, clock_stepped, suspended, disk_stalled, leader_lost, engine_away, \
            unprotected), begin, end, length_ms. For a step of the clock, begin and end are its times before and after \
            the step
            """
        ) { $0.writeDaemonGaps(to: &$1) },
        Member(
            "comparison",
            """
            {} | {file: string, since: string?, until: string?, first_at: string?, last_at: string?, tests: integer, \
            significance: number, worse: [{part: 'all' | 'handler' | 'route' | 'provider', name: string, figure: \
            \(words(Comparison.Finding.Figure.self)), before: number, after: number, p_value: share}]}
            """,
            """
            empty without --baseline; else file (the earlier report) with its since, until, first_at and last_at; \
            tests (the number of compared figures), significance and worse: part (all, handler, route, provider), \
            name, figure (missed, failed, queue_p50, queue_p90, queue_p99, exec_p50, exec_p90, exec_p99), before and \
            after (shares, or milliseconds), p_value
            """
        ) { $1.object($0.writeComparison) },
        Member(
            "warnings", "[string]",
            "sentences about handlers that handled nothing, alerts, and figures that got worse"
        ) { source, writer in
            writer.array { list in source.warnings.forEach { list.string($0) } }
        },
    ]

    private var crossed: [Breakdown] { Array(detail.breakdowns.dropFirst(ReportDetail.always.count)) }

    private func write(_ timeline: Timeline, to writer: inout JSONWriter) {
        writer.member("width_s", timeline.width / 1000)
        writer.member("bounds_ms", array: { list in Timeline.bounds.forEach { list.int($0 / 1000) } })
        writer.member(
            "spans",
            array: { list in
                for (begin, slot) in timeline.spans where slot.accepted > 0 {
                    list.object {
                        $0.member("begin", begin.rfc3339)
                        $0.member("accepted", slot.accepted)
                        $0.members(of: slot.compliance)
                        $0.member("bands", array: { bands in slot.bands.forEach { bands.int($0) } })
                    }
                }
            })
    }

    private func writeHistograms(to writer: inout JSONWriter) {
        writer.key("all")
        detail.all.writeHistograms(to: &writer)
        let parts = [
            ("by_handler", report.byHandler), ("by_route", report.byRoute), ("by_provider", report.byProvider),
        ]
        for (key, groups) in parts {
            writer.member(
                key,
                object: { writer in
                    for (name, group) in groups.sorted(by: { $0.key < $1.key }) {
                        writer.key(name)
                        group.writeHistograms(to: &writer)
                    }
                })
        }
    }

    private func writeBudget(to writer: inout JSONWriter) {
        guard let serviceLevel else { return }
        writer.member("left", serviceLevel.budgetLeft)
        writer.member("until", serviceLevel.rates?.end.rfc3339)
        writer.member(
            "burn_rates",
            object: { rates in
                for window in BurnRates.Window.allCases {
                    rates.member(window.rawValue, serviceLevel.burnRate(window))
                }
            })
        writer.member(
            "unrecorded",
            array: { list in for window in serviceLevel.unrecorded { list.string(window.rawValue) } })
        writer.member(
            "alerts",
            array: { list in
                for alert in serviceLevel.firing {
                    list.object {
                        $0.member("severity", alert.severity.rawValue)
                        $0.member("long", alert.long.rawValue)
                        $0.member("short", alert.short.rawValue)
                        $0.member("threshold", alert.threshold)
                    }
                }
            })
    }

    private func writeComparison(to writer: inout JSONWriter) {
        guard let comparison else { return }
        writer.member("file", comparison.file)
        writer.member("since", comparison.since)
        writer.member("until", comparison.until)
        writer.member("first_at", comparison.covered?.lowerBound.rfc3339)
        writer.member("last_at", comparison.covered?.upperBound.rfc3339)
        writer.member("tests", comparison.tests)
        writer.member("significance", Comparison.significance)
        writer.member(
            "worse",
            array: { list in
                for finding in comparison.worse {
                    // Times are in microseconds; the JSON has milliseconds.
                    let scale: Double = finding.figure.isTime ? 1000 : 1
                    list.object {
                        $0.member("part", finding.part.kind)
                        $0.member("name", finding.part.name)
                        $0.member("figure", finding.figure.rawValue)
                        $0.member("before", finding.before / scale)
                        $0.member("after", finding.after / scale)
                        $0.member("p_value", finding.pValue)
                    }
                }
            })
    }
}

extension Breakdown {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("dimensions", array: { list in dimensions.forEach { list.string($0.rawValue) } })
            writer.member(
                "groups",
                array: { list in
                    for (names, group) in sorted {
                        list.object {
                            $0.member("names", array: { list in names.forEach { list.string($0) } })
                            $0.key("figures")
                            group.write(to: &$0)
                        }
                    }
                })
            writer.member("rest", rest.count)
        }
    }
}

extension FigureGroup {
    /// Writes each histogram as pairs of a bucket's shortest time, in microseconds, and a count.
    fileprivate func writeHistograms(to writer: inout JSONWriter) {
        writer.object {
            for (name, histogram) in [("queue", queue), ("exec", exec), ("total", total)] {
                $0.member(
                    name,
                    array: { list in
                        for bucket in histogram.filledBuckets {
                            list.array {
                                $0.int(bucket.lowest)
                                $0.int(bucket.count)
                            }
                        }
                    })
            }
        }
    }
}

extension ReportRow {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("seq", invocation.id.seq.value)
            $0.member("n", invocation.id.n)
            $0.member("accepted_at", acceptedAt.rfc3339)
            $0.member("callback", invocation.callback.rawValue)
            $0.member("provider", invocation.provider)
            $0.member("route", invocation.route)
            $0.member("handler", invocation.handler)
            $0.member("app", app)
            $0.member("outcome", invocation.result?.outcome.rawValue)
            $0.member("reason_code", invocation.result?.reasonCode?.rawValue)
            $0.member("queue_ms", invocation.result?.queue)
            $0.member("exec_ms", invocation.result?.exec)
            $0.member("total_ms", invocation.result?.total)
            $0.member("budget_ms", invocation.budget)
            $0.members(ofWait: invocation.result)
        }
    }
}

extension JSONWriter {
    fileprivate mutating func groups(_ breakdown: Breakdown) {
        object { writer in
            for (names, group) in breakdown.sorted {
                writer.key(names[0])
                group.write(to: &writer)
            }
        }
    }
}
