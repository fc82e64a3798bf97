import Testing

@testable import PushModel
@testable import PushViews

@Suite("The table of a payload by platform and state")
struct PayloadMatrixTests {
    private let matrix = PayloadMatrix(
        name: "a.json", payload: Array(#"{"t":"<b>"}"#.utf8), columns: ["Owner", "Outcome"],
        rows: [
            .init(
                place: .init(platform: .android, state: .foreground),
                cells: [.init(text: "braze"), .init(text: "handled")], isLost: false, reasons: ["it is Braze's"]),
            .init(
                place: .init(platform: .android, state: .background),
                cells: [.init(text: "braze"), .init(text: "shown_by_system", differs: true)], isLost: true,
                reasons: ["the system shows it"]),
        ],
        warnings: [.init(text: "a <b> & c", places: [.init(platform: .android, state: .background)])])

    @Test("marks differences, and names the places of a warning")
    func text() {
        #expect(
            matrix.lines(width: nil).map(\.text) == [
                "a.json", "Platform  State       Owner  Outcome", "android   foreground  braze  handled",
                "          background  braze  shown_by_system *", "* differs from the state above it", "Warnings",
                "  - android (background): a <b> & c",
            ])
        #expect(matrix.lines(width: nil)[3].tone == .bad)
    }

    @Test("marks losses apart from differences, in text and on the page, and names them in a table of all payloads")
    func losses() {
        var lossy = matrix
        lossy.rows[1].cells[1].isLoss = true
        lossy.rows[1].isLost = false
        let lines = lossy.lines(width: nil)
        #expect(lines[3].text.hasSuffix("shown_by_system ! *") && lines[3].tone == .bad)
        #expect(lines.map(\.text).contains("! is a loss: nobody gets the push, or counts the open"))
        let page = [lossy, matrix].page(by: "pushctl 1", at: WallTime(milliseconds: 0))
        #expect(page.contains("<mark><span class=\"bad\">shown_by_system</span></mark>"))
        #expect(page.contains("<a href=\"#payload-2\">a.json</a>"))
        #expect(page.contains("<span class=\"bad\">android (background)</span>"))
    }

    @Test("is one page without a script or an external resource, and escapes its texts")
    func page() {
        let page = [matrix].page(by: "pushctl 1", at: WallTime(milliseconds: 0))
        #expect(page.contains("<title>What happens to a.json</title>"))
        #expect(page.contains("<mark>shown_by_system</mark>"))
        #expect(page.contains("a &lt;b&gt; &amp; c"))
        #expect(
            page.contains(#"<pre>{"t":"&lt;b&gt;"}</pre>"#) || page.contains("{&quot;t&quot;:&quot;&lt;b&gt;&quot;}"))
        #expect(page.contains("<li>the system shows it</li>"))
        #expect(page.contains("pushctl 1, 1970-01-01T00:00:00"))
        #expect(!page.contains("<script") && !page.contains("src=") && !page.contains("url("))
    }
}
