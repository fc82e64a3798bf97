import Testing

@testable import PushModel
@testable import PushViews

@Suite("A row of the list of pushes")
struct PushRowTests {
    @Test("says that a push is a replay, and says it of no other")
    func replay() {
        var story = Sample.handed()
        func row() -> String { PushRow(PushSummary(PushFacts(story))).html().html }
        #expect(!row().contains("replay"))
        story.request.replayOf = SequenceNumber(7)
        #expect(row().contains(" · replay</small>"))
    }

    @Test("for pushes that are alike has the number of those opened, if any is", arguments: 0...3)
    func opened(count: Int) {
        let rows = (1...3).map { number -> PushRow in
            var story = Sample.handed(Int64(number))
            let push = AnalyticsEvent.Push(campaignID: "spring", messageID: "m\(number)")
            if number <= count {
                story.events.append(Sample.event(Int64(number + 10), Int64(number), .open(push, button: nil)))
            }
            return PushRow(PushSummary(PushFacts(story)))
        }
        let group = rows[0].group(rows, target: "/").html
        #expect(group.contains("3 alike") && group.contains(" opened</b>") == (count > 0), "\(group)")
        #expect(count == 0 || group.contains("<b class=\"opened\">\(count) of 3 opened</b>"))
        #expect(rows.map { $0.html().html.contains(">opened</b>") } == (1...3).map { $0 <= count })
    }
}
