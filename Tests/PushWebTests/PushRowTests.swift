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
}
