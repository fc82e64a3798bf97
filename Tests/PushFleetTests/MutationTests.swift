import TestSupport
import Testing

/// A rule, the model that shows its lack, and the resulting violation.
struct Mutation: CustomTestStringConvertible, Sendable {
    var model: Model
    var violation: Violation

    init(_ rule: Rule, _ budget: Budget, _ violation: Violation, losesLeaseRow: Bool = false) {
        model = Model(budget: budget, without: rule, losesLeaseRow: losesLeaseRow)
        self.violation = violation
    }

    var testDescription: String { model.without?.rawValue ?? "" }
}

@Suite("A pair without one of its rules")
struct MutationTests {
    private static let mutations = [
        Mutation(.waitsForCommit, Budget(takes: 1, promotions: 1), .acknowledgedLost),
        Mutation(.keepsBytes, Budget(takes: 1, disconnects: 1), .fencedByOwn),
        Mutation(.asksWhenRefused, Budget(takes: 1, disconnects: 1), .fencedByOwn),
        Mutation(.readingIsNoCommit, Budget(takes: 1, crashes: 1, promotions: 1), .acknowledgedLost),
        Mutation(.noticeIsDoubt, Budget(takes: 1, promotions: 1, cancels: 1), .acknowledgedLost),
        Mutation(.repeatsWait, Budget(takes: 1, promotions: 1, cancels: 1), .acknowledgedLost),
        Mutation(.comparesCopies, Budget(takes: 2, promotions: 1, cancels: 1), .fork),
        Mutation(.comparesPrevious, Budget(takes: 2, promotions: 1, cancels: 1), .broken),
        Mutation(.takeIsDurable, Budget(takes: 2, promotions: 1), .termTwice),
        Mutation(.termAboveRow, Budget(takes: 2), .termTwice),
        Mutation(.termAboveTail, Budget(takes: 2, promotions: 1), .termBelowChain, losesLeaseRow: true),
        Mutation(.isSynchronous, Budget(takes: 1, promotions: 1), .acknowledgedLost),
        Mutation(.movesWhenIdle, Budget(takes: 2, moves: 1), .lostByMove),
        Mutation(.drawsIDs, Budget(takes: 2), .sameBatch),
    ]

    @Test("violates a property, and the search returns the steps", arguments: mutations)
    func mutated(_ mutation: Mutation) throws {
        let found = mutation.model.search(atMost: 100_000, for: mutation.violation)
        let finding = try #require(found.finding, "\(found.states) states show nothing")
        print("without \(mutation.testDescription), in state \(found.states): \(finding)")
    }

    @Test("is within the searched bounds, and has no violation with the rule")
    func complete() {
        #expect(Set(Self.mutations.map(\.model.without)) == Set(Rule.allCases))
        for mutation in Self.mutations {
            var model = mutation.model
            // No rule prevents this when the row of the lease is lost before the term's first batch.
            (model.without, model.losesLeaseRow) = (nil, false)
            #expect(model.search(atMost: 3000).finding == nil)
        }
    }
}
