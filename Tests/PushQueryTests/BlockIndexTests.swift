import TestSupport
import Testing

@testable import PushModel
@testable import PushViews

@Suite("The index of blocks, of random stories", .timeLimit(.minutes(30)))
struct IndexedStoriesTests {
    /// A story with some facts of a few, and some of its own.
    private func story(_ seq: Int64, using random: inout SeededGenerator) -> RequestStory {
        func text(_ name: String, of count: Int) -> String? {
            Bool.random(using: &random) ? "\(name) \(Int.random(in: 0..<count, using: &random)),é" : nil
        }
        var story = Story.story(nil, [])
        story.request.seq = SequenceNumber(seq)
        story.request.app = text("app", of: 3)
        story.request.device = text("device", of: 500)
        story.request.externalID = text("user", of: 500)
        story.request.id = text("id", of: 10_000)
        story.request.messageID = text("message", of: 10_000)
        if let campaign = text("campaign", of: 40) {
            story.events = [Story.event(.received(AnalyticsEvent.Push(campaignID: campaign, messageID: nil)), seq: seq)]
        }
        for n in 0..<Int.random(in: 0...2, using: &random) {
            let outcome = Outcome.allCases.randomElement(using: &random)
            story.invocations.append(Story.invocation(outcome, handler: text("handler", of: 5), n: n))
        }
        return story
    }

    /// The terms that find a story by one whole value of a word that is indexed.
    private func terms(_ story: RequestStory) -> [String] {
        let request = story.request
        let values: [(QueryWord, [String?])] = [
            (.app, [request.app]), (.device, [request.device]), (.user, [request.externalID]),
            (.campaign, story.events.map { $0.push?.campaignID }),
            (.id, ["\(request.seq)", request.id, request.messageID]),
            (.outcome, story.invocations.map { $0.result?.outcome.rawValue }),
            (.handler, story.invocations.map(\.handler)),
        ]
        #expect(Set(values.map(\.0)) == IndexedFact.words)
        return values.flatMap { word, values in values.compactMap { $0.map { "\(word.rawValue):\"\($0)\"" } } }
    }

    @Test("never pass over a story that a query finds by its facts", arguments: [1, 2, 3] as [UInt64])
    func sound(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let stories = (0..<BlockIndex.blockLength).map { story(BlockIndex.blockLength + $0, using: &random) }
        var index = BlockIndex()
        index.add(1, stories.flatMap(IndexedFact.all))
        for story in stories {
            #expect(BlockIndex.block(of: story.request.seq) == 1)
            let terms = terms(story)
            // Each alone, all of them, and each beside a value that is nowhere.
            let either = terms.filter { !$0.hasPrefix("outcome:") }.map { "\($0),nowhere" }
            for text in terms + [terms.joined(separator: " ")] + either {
                let query = try PushQuery(text, now: Story.now)
                try #require(!query.indexed.isEmpty && query.matches(PushFacts(story)), "\(text)")
                #expect(index.mayHave(1, query.indexed) == true, "\(text)")
            }
        }
    }

    @Test("pass over most blocks that have nothing that is asked for")
    func selective() throws {
        var random = SeededGenerator(seed: 4)
        var index = BlockIndex()
        index.add(0, (1..<BlockIndex.blockLength).flatMap { IndexedFact.all(of: story($0, using: &random)) })
        var wrong = 0
        for number in 0..<4000 {
            let query = try PushQuery("device:nobody-\(number)", now: Story.now)
            if index.mayHave(0, query.indexed) == true { wrong += 1 }
        }
        #expect(wrong < 60, "\(wrong) of 4000")
        // Two terms are both to be there.
        let both = try PushQuery("device:nobody user:nobody", now: Story.now)
        #expect(both.indexed.count == 2)
        // The number of a request needs no fact: its block is the only one that may have it.
        #expect(index.mayHave(0, [[IndexedFact(.id, "7")]]) == true)
        #expect(index.mayHave(0, [[IndexedFact(.id, "70000")]]) == false)
    }

    @Test("tell a value from the same one of another word, and from its beginning")
    func words() {
        let facts = [
            IndexedFact(.app, "a"), IndexedFact(.device, "a"), IndexedFact(.user, "a"), IndexedFact(.app, "ab"),
        ]
        #expect(Set(facts).count == 4 && IndexedFact(.app, "a") == IndexedFact(.app, "a"))
    }

    @Test("keep within their memory: the oldest goes for a newer one, and no newer one for an older")
    func memory() {
        let fact = [[IndexedFact(.app, "a")]]
        var index = BlockIndex(bytes: 1)
        index.add(7, [IndexedFact]())
        index.add(6, [IndexedFact]())
        #expect(index.mayHave(7, fact) == false && index.mayHave(6, fact) == nil)
        index.add(8, fact[0])
        #expect(index.mayHave(8, fact) == true && index.mayHave(7, fact) == nil && index.mayHave(8, []) == true)
    }

    @Test("are read newest first, then as new ones come, then those that were undecided; without room no older one")
    func order() {
        func all(_ index: inout BlockIndex, _ blocks: ClosedRange<Int64>, undecided: Set<Int64> = []) -> [Int64] {
            var order: [Int64] = []
            while index.isIncomplete(in: blocks), let block = index.next(in: blocks) {
                order.append(block)
                if undecided.contains(block) { index.postpone(block) } else { index.add(block, [IndexedFact]()) }
            }
            return order
        }
        var index = BlockIndex()
        #expect(all(&index, 1...5, undecided: [4, 5]) == [5, 4, 3, 2, 1])
        #expect(all(&index, 1...7) == [6, 7] && !index.isIncomplete(in: 3...7))
        #expect(index.next(in: 3...7) == 5 && index.next(in: 3...7) == 4 && index.next(in: 3...7) == nil)
        // Room for two: the older ones are not read.
        var small = BlockIndex(bytes: 2 * 1088)
        #expect(all(&small, 1...5) == [5, 4] && all(&small, 1...6) == [6])
    }
}
