import PushFigures
import PushModel

extension ReportDocument {
    /// The report for programs: the members of ``ComplianceReport/json(objective:beside:)``, and those of the detail.
    /// `packaging/report.schema.json` describes them.
    public var json: [UInt8] {
        report.json(objective: serviceLevel?.objective) { writer in
            writer.member("from_acceptance", object: { $0.members(of: detail.fromAcceptance) })
            writer.member("from_invocation", object: { $0.members(of: detail.fromInvocation) })
            writer.key("all")
            detail.all.write(to: &writer)
            for breakdown in detail.breakdowns.prefix(ReportDetail.always.count) {
                writer.member("by_\(breakdown.dimensions[0].rawValue)", groups: breakdown)
            }
            writer.member("crossed", array: { list in crossed.forEach { $0.write(to: &list) } })
            writer.member("timeline", object: { write(detail.timeline, to: &$0) })
            writer.member("misses", array: { list in detail.misses.rows.forEach { $0.write(to: &list) } })
            writer.member("waits", array: { list in report.longestWaits.rows.forEach { $0.write(to: &list) } })
            writer.member("histograms", object: { writeHistograms(to: &$0) })
            writer.member("error_budget", object: { writeBudget(to: &$0) })
            writer.member("rows_begin", detail.rowsBegin?.rfc3339)
            writer.member("clock_set_back", report.source == .ledger ? detail.clockSetBack : nil)
            writeDaemonGaps(to: &writer)
            writer.member("comparison", object: { writeComparison(to: &$0) })
            writer.member("warnings", array: { list in warnings.forEach { list.string($0) } })
        }
    }

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
                    // A share, or milliseconds.
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
    /// Each histogram as pairs of the shortest time of a bucket, in microseconds, and a count.
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
    fileprivate mutating func member(_ key: String, groups breakdown: Breakdown) {
        member(
            key,
            object: { writer in
                for (names, group) in breakdown.sorted {
                    writer.key(names[0])
                    group.write(to: &writer)
                }
            })
    }
}
