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

    /// The places of the highest value and of zero.
    private static let (top, bottom, height) = (22.0, 150.0, 176)

    private func frame(_ label: String, _ content: Markup) -> Markup {
        "<svg class=\"calls\" width=\"100%\" height=\"\(Self.height)\" role=\"group\" aria-label=\"\(label)\">\(content)</svg>\n"
    }

    /// A line across, with the name of its value above it.
    private func line(_ y: Double, _ name: String, _ kind: String = "g") -> Markup {
        "<line class=\"\(kind)\" x1=\"0\" x2=\"100%\" y1=\"\(number(y))\" y2=\"\(number(y))\"/><text x=\"0\" y=\"\(number(y - 4))\">\(name)</text>"
    }

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
            "<ul class=\"legend\">\(legend)\(objective)</ul>\n\(document.detail.calls.calls(of: due).map(dots) ?? bars)"
    }

    private var endsInWords: String {
        let counts = CallCounts(due: due, failed: document.report.failed, late: document.report.compliance.missed)
        return CallEnd.allCases.map { "\(grouped(counts[$0])) \($0.words)" }.joined(separator: ", ")
    }

    /// The times below the picture.
    private func times(_ shown: [(x: Double, time: WallTime)]) -> Markup {
        let isLong = (shown.last?.time.seconds ?? 0) - (shown.first?.time.seconds ?? 0) >= 86_400
        let parts = shown.enumerated().map { index, mark -> Markup in
            let anchor = index == 0 ? "start" : index == shown.count - 1 ? "end" : "middle"
            let whole = zone.text(mark.time)
            let name = isLong ? whole.prefix(16) : whole.dropFirst(11).prefix(8)
            return
                "<text x=\"\(number(mark.x))%\" y=\"\(Self.height - 4)\" text-anchor=\"\(anchor)\">\(String(name))</text>"
        }
        return "\(parts)"
    }

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
                "<circle class=\"\(end.rawValue)\" cx=\"\(number(x(row.acceptedAt)))%\" cy=\"\(number(y))\" r=\"\(end == .inTime ? "4.5" : "6")\"><title>\(name)</title></circle>"
            )
        }
        var marks = [(3.0, first), (97.0, last)]
        if first == last { marks.removeLast() }
        let content: Markup =
            "\(line(Self.bottom, "0"))\(line((Self.bottom + Self.top) / 2, "half of the deadline"))\(line(Self.top, "deadline", "limit"))\(dots)\(times(marks))"
        let hint: Markup = linksPushes ? " A press on a dot opens its push." : ""
        return
            "\(frame("\(counted(rows.count, "call")): \(endsInWords)", content))<small>Times: \(zone.name).\(hint)</small>\n"
    }

    private func link(_ target: String, _ name: String, _ content: Markup) -> Markup {
        linksPushes ? "<a href=\"\(target)\" aria-label=\"\(name)\">\(content)</a>" : content
    }

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
                    "<rect class=\"\(end.rawValue)\" x=\"\(number(Double(index) * step))%\" width=\"\(number(step * 0.82))%\" y=\"\(number(y))\" height=\"\(number(height))\"/>"
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
            "\(frame("\(bars.count) spans of \(spanInWords(.seconds(width))): \(endsInWords)", content))<small>Counts in spans of \(spanInWords(.seconds(width))). Times: \(zone.name).</small>\n"
    }

    /// The times of a handler on the scale of its deadline: from the shortest to 99 %, and the middle one.
    func strip(_ group: FigureGroup) -> Markup {
        let times = document.report.countsFromAcceptance ? group.total : group.exec
        guard let budget = group.shortestBudget, budget > .zero, let least = times.filledBuckets.first?.lowest else {
            return "-"
        }
        let (middle, most) = (times.quantile(permille: 500) ?? 0, times.quantile(permille: 990) ?? 0)
        func x(_ time: Int64) -> Double { 2 + min(1.15, Double(time) / Double(budget.microseconds)) * 83 }
        func span(_ time: Int64) -> String { roundedSpan(.microseconds(time)) }
        let late: Markup = "<circle class=\"out\" cx=\"85%\" cy=\"13\" r=\"5\"/>"
        let words = middle == most ? span(most) : "half within \(span(middle)), 99 % within \(span(most))"
        return """
            <svg class="strip" width="100%" height="26" aria-hidden="true"><line class="g" x1="0" x2="100%" y1="13" y2="13"/>\
            <line class="limit" x1="85%" x2="85%" y1="2" y2="24"/>\
            <rect class="band" x="\(number(x(least)))%" width="\(number(max(0.5, x(most) - x(least))))%" y="8" height="10" rx="4"/>\
            <rect class="in" x="\(number(x(middle)))%" y="5" width="3" height="16"/>\(Markup.when(group.compliance.missed > 0, late))</svg>\
            <small>\(words) of \(spanInWords(budget))</small>
            """
    }
}

extension ReportRow {
    /// The part of its deadline that it used; a late one has used all of it.
    fileprivate var shareOfBudget: Double {
        guard let result = invocation.result, invocation.budget > .zero else { return 0 }
        let used = mode == .relay ? result.total : result.exec
        let share = Double(used.microseconds) / Double(invocation.budget.microseconds)
        return result.outcome.isMissed ? max(1, share) : share
    }
}

extension ReportDocument {
    /// The handlers, those with the most missed deadlines and failures first.
    var worstFirst: [FigureGroup.Named] {
        report.byHandler.byName.sorted {
            ($1.group.compliance.missed, $1.group.failed, $0.names[0]) < (
                $0.group.compliance.missed, $0.group.failed, $1.names[0]
            )
        }
    }
}

private func number(_ value: Double) -> String { rounded(value, decimals: 1) }
