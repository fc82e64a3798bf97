import PushModel

/// The due calls as a picture: a dot for each while they are few, bars of counts beyond. Widths are shares of the page,
/// so that text never shrinks.
struct CallPicture {
    private let document: ReportDocument
    private let linksPushes: Bool
    private var due: Int { document.report.compliance.due }
    private var zone: LocalZone { document.zone }

    /// - Parameter linksPushes: whether the page has the pushes, so that a dot or a bar leads to them.
    init(_ document: ReportDocument, linksPushes: Bool) {
        (self.document, self.linksPushes) = (document, linksPushes)
    }

    private static let (top, bottom, height) = (22.0, 150.0, 176)

    /// The heading above the picture.
    var title: String { document.detail.calls.calls(of: due) == nil ? "Calls over time" : "Each call" }

    /// The picture with its legend; empty if nothing was due.
    var markup: Markup {
        guard due > 0 else { return "" }
        let legend = CallEnd.allCases.map { end -> Markup in "<li class=\"l\(end.rawValue)\">\(end.words)</li>" }
        let objective: Markup? = document.serviceLevel.map {
            "<li>the objective is \($0.objective.description) %</li>"
        }
        return
            "<ul class=\"legend\">\(legend)\(objective)</ul>\n\(document.detail.calls.calls(of: due).map(dots) ?? bars)\(gaps)"
    }

    private func frame(_ label: String, _ content: Markup) -> Markup {
        "<svg class=\"calls\" width=\"100%\" height=\"\(Self.height)\" role=\"group\" aria-label=\"\(label)\">\(content)</svg>\n"
    }

    private var endsInWords: String {
        let counts = CallCounts(due: due, failed: document.report.failed, late: document.report.compliance.missed)
        return CallEnd.allCases.map { "\(grouped(counts[$0])) \($0.words)" }.joined(separator: ", ")
    }

    private func line(_ y: Double, _ name: String, _ kind: String = "g") -> Markup {
        "<line class=\"\(kind)\" x1=\"0\" x2=\"100%\" y1=\"\(text(y))\" y2=\"\(text(y))\"/><text x=\"0\" y=\"\(text(y - 4))\">\(name)</text>"
    }

    /// The times below the picture.
    private func times(_ shown: [(x: Double, time: WallTime)]) -> Markup {
        let isLong = (shown.last?.time.seconds ?? 0) - (shown.first?.time.seconds ?? 0) >= 86_400
        let parts = shown.enumerated().map { index, mark -> Markup in
            let anchor = index == 0 ? "start" : index == shown.count - 1 ? "end" : "middle"
            let whole = zone.text(mark.time)
            let name = isLong ? String(whole.prefix(16)) : String(whole.dropFirst(11).prefix(8))
            return "<text x=\"\(text(mark.x))%\" y=\"\(Self.height - 4)\" text-anchor=\"\(anchor)\">\(name)</text>"
        }
        return "\(parts)"
    }

    // MARK: Few

    private func dots(_ rows: [ReportRow]) -> Markup {
        guard let first = rows.first?.acceptedAt, let last = rows.last?.acceptedAt else { return "" }
        let length = Double(max(1, last.milliseconds - first.milliseconds))
        func x(_ time: WallTime) -> Double {
            first == last ? 50 : 3 + Double(time.milliseconds - first.milliseconds) / length * 94
        }
        let dots = rows.map { row -> Markup in
            guard let result = row.invocation.result else { return "" }
            let (end, share) = (CallEnd(result.outcome), row.shareOfBudget)
            let y = Self.bottom - min(1, share) * (Self.bottom - Self.top)
            let name =
                "#\(row.invocation.id.shortName), \(row.invocation.handler ?? "no handler"), \(end.words), "
                + "\(rounded(share * 100, decimals: 0)) % of its deadline"
            return link(
                "/push/\(row.invocation.id.seq)", name,
                "<circle class=\"\(end.rawValue)\" cx=\"\(text(x(row.acceptedAt)))%\" cy=\"\(text(y))\" r=\"\(end == .inTime ? "4.5" : "6")\"><title>\(name)</title></circle>"
            )
        }
        var marks = [(3.0, first), (97.0, last)]
        if first == last { marks.removeLast() }
        let content: Markup =
            "\(line(Self.bottom, "0"))\(line((Self.bottom + Self.top) / 2, "half of the deadline"))\(line(Self.top, "deadline", "limit"))\(dots)\(times(marks))"
        let hint: Markup? =
            linksPushes ? "<small>Few calls are shown one by one; a press on a dot opens its push.</small>\n" : nil
        return "\(frame("\(counted(rows.count, "call")): \(endsInWords)", content))\(hint)"
    }

    private func link(_ target: String, _ name: String, _ content: Markup) -> Markup {
        linksPushes ? "<a href=\"\(target)\" aria-label=\"\(name)\">\(content)</a>" : content
    }

    // MARK: Many

    private var bars: Markup {
        let (width, bars) =
            document.detail.calls.bars(of: due)
            ?? (
                document.detail.timeline.width / 1000,
                document.detail.timeline.spans.map { ($0.begin, $0.slot.calls) }
            )
        let most = max(1, bars.map(\.counts.due).max() ?? 1)
        let step = 100 / Double(max(1, bars.count))
        let scale = (Self.bottom - Self.top) / Double(most)
        let drawn = bars.enumerated().map { index, bar -> Markup in
            guard bar.counts.due > 0 else { return "" }
            var y = Self.bottom
            let parts = CallEnd.allCases.map { end -> Markup in
                guard bar.counts[end] > 0 else { return "" }
                // One late call stays visible at any height.
                let height = max(2, Double(bar.counts[end]) * scale)
                y -= height
                return
                    "<rect class=\"\(end.rawValue)\" x=\"\(text(Double(index) * step))%\" width=\"\(text(step * 0.82))%\" y=\"\(text(y))\" height=\"\(text(height))\"/>"
            }
            let ends = CallEnd.allCases.filter { bar.counts[$0] > 0 }.map { "\(grouped(bar.counts[$0])) \($0.words)" }
            let name = "\(zone.text(bar.begin)): \(ends.joined(separator: ", "))"
            let after = bar.begin.rfc3339
            let before = WallTime(milliseconds: bar.begin.milliseconds + width * 1000).rfc3339
            return link(
                "/?query=" + "after:\(after) before:\(before)".percentEncoded, name,
                "<g>\(parts)<title>\(name)</title></g>")
        }
        let marks = [0, bars.count / 2, bars.count - 1].map { index in
            (x: index == 0 ? 0 : index == bars.count - 1 ? 100 : Double(index) * step, time: bars[index].begin)
        }
        let content: Markup =
            "\(line(Self.bottom, "0"))\(line(Self.top, grouped(most)))\(drawn)\(times(bars.count < 3 ? [marks[0]] : marks))"
        return
            "\(frame("\(bars.count) spans of \(spanInWords(.seconds(width))): \(endsInWords)", content))<small>Counts in spans of \(spanInWords(.seconds(width))).</small>\n"
    }

    /// The gaps of the daemon in this time, which explain spans without calls.
    private var gaps: Markup {
        guard let first = document.detail.timeline.spans.first?.begin,
            let last = document.detail.timeline.spans.last?.begin
        else { return "" }
        let end = last.milliseconds + document.detail.timeline.width
        let within = document.daemonGaps.filter {
            max($0.begin, $0.end) > first && min($0.begin, $0.end).milliseconds < end
        }
        let items = within.prefix(10).map { gap -> Markup in
            "<li>\(zone.text(gap.begin)): \(gap.words), \(gap.lengthText)</li>\n"
        }
        return items.isEmpty ? "" : "<p>Gaps of the daemon in this time:</p>\n<ul class=\"plain\">\(items)</ul>\n"
    }

    // MARK: A handler

    /// The times of a handler on the scale of its deadline.
    func strip(of name: String, _ group: FigureGroup) -> Markup {
        guard let budget = group.shortestBudget, budget > .zero, group.total.count > 0 else { return "-" }
        func x(_ share: Double) -> Double { 2 + min(1.15, max(0, share)) * 83 }
        var marks: [Markup] = []
        let words: String
        if let rows = document.detail.calls.calls(of: due)?.filter({ $0.invocation.handler == name }), !rows.isEmpty {
            for row in rows {
                guard let result = row.invocation.result else { continue }
                marks.append(
                    "<circle class=\"\(CallEnd(result.outcome).rawValue)\" cx=\"\(text(x(row.shareOfBudget)))%\" cy=\"13\" r=\"4.5\"/>"
                )
            }
            let used = rows.compactMap(\.usedOfBudget)
            let (least, most) = (used.min() ?? .zero, used.max() ?? .zero)
            words =
                (least == most ? roundedSpan(most) : "\(roundedSpan(least)) to \(roundedSpan(most))")
                + " of \(spanInWords(budget))"
        } else {
            let times = document.report.countsFromAcceptance ? group.total : group.exec
            guard times.count > 0 else { return "none was started" }
            func share(_ time: Int64?) -> Double { Double(time ?? 0) / Double(budget.microseconds) }
            let (least, middle, most) = (
                times.filledBuckets.first?.lowest, times.quantile(permille: 500), times.quantile(permille: 990)
            )
            marks.append(
                "<rect class=\"band\" x=\"\(text(x(share(least))))%\" width=\"\(text(max(0.5, x(share(most)) - x(share(least)))))%\" y=\"8\" height=\"10\" rx=\"4\"/><rect class=\"in\" x=\"\(text(x(share(middle))))%\" y=\"5\" width=\"3\" height=\"16\"/>"
            )
            if group.compliance.missed > 0 { marks.append("<circle class=\"out\" cx=\"85%\" cy=\"13\" r=\"5\"/>") }
            func span(_ time: Int64?) -> String { roundedSpan(.microseconds(time ?? 0)) }
            words = "half within \(span(middle)), 99 % within \(span(most)) of \(spanInWords(budget))"
        }
        return
            "<svg class=\"strip\" width=\"100%\" height=\"26\" aria-hidden=\"true\"><line class=\"g\" x1=\"0\" x2=\"100%\" y1=\"13\" y2=\"13\"/><line class=\"limit\" x1=\"85%\" x2=\"85%\" y1=\"2\" y2=\"24\"/>\(marks)</svg><small>\(words)</small>"
    }

    private func text(_ value: Double) -> String { rounded(value, decimals: 1) }
}

extension ReportRow {
    /// The time that counts towards its deadline; `nil` while it is in flight.
    fileprivate var usedOfBudget: Duration? {
        invocation.result.map { mode == .relay ? $0.total : $0.exec }
    }

    /// The part of its deadline that it used; a late one has used all of it.
    fileprivate var shareOfBudget: Double {
        guard let used = usedOfBudget, invocation.budget > .zero else { return 0 }
        let share = Double(used.microseconds) / Double(invocation.budget.microseconds)
        return invocation.result?.outcome.isMissed == true ? max(1, share) : share
    }
}

extension ReportDocument {
    /// The handlers that were late or failed, a card for each, the worst first.
    func todo(linksPushes: Bool) -> Markup {
        let rows = detail.calls.calls(of: report.compliance.due) ?? []
        let handlers = worstFirst.filter { $0.group.compliance.missed > 0 || $0.group.failed > 0 }.prefix(4)
        let cards = handlers.map { name, group -> Markup in
            let (late, failed, due) = (group.compliance.missed, group.failed, group.compliance.due)
            let words = [
                late > 0 ? "\(grouped(late)) of \(grouped(due)) late" : nil,
                failed > 0 ? "\(grouped(failed)) of \(grouped(due)) failed" : nil,
            ].compactMap(\.self).joined(separator: ", ")
            let last = rows.last { row in
                row.invocation.handler == name
                    && (row.invocation.result.map { CallEnd($0.outcome) != .inTime } ?? false)
            }
            let reason: Markup? = last?.invocation.result?.reason.map { "<p><code>\($0)</code></p>" }
            let why: Markup? =
                reason == nil && late > 0 ? "<p>\(group.missReasonText.capitalizingFirst).</p>" : reason
            let window = [
                report.window.since.map { " after:\($0.rfc3339)" }, report.window.until.map { " before:\($0.rfc3339)" },
            ].compactMap(\.self).joined()
            let query = "handler:\(name) outcome:failed,timed_out,expired\(window)"
            let link: Markup? =
                linksPushes ? "<p><a href=\"/?query=\(query.percentEncoded)\">Show them</a></p>" : nil
            return
                "<section class=\"card\"><h2><span class=\"bad\" aria-hidden=\"true\">\(late > 0 ? "◷" : "✗")</span> \(name): \(words)</h2>\(why)\(link)</section>\n"
        }
        return cards.isEmpty ? "" : "<div class=\"todo\">\n\(cards)</div>\n"
    }

    /// The handlers, those with the most missed deadlines and failures first.
    var worstFirst: [(name: String, group: FigureGroup)] {
        report.byHandler.map { (name: $0.key, group: $0.value) }.sorted {
            ($1.group.compliance.missed, $1.group.failed, $0.name) < (
                $0.group.compliance.missed, $0.group.failed, $1.name
            )
        }
    }
}
