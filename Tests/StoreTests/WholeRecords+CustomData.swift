@testable import PushModel

extension Whole {
    static let entries = [
        EntryRecord(
            entry: CustomEntry(
                number: EntryNumber(61), cause: number(101), kind: .customEvent,
                destination: .sent(.alias(name: "alias-a", label: "label-a")), platform: .web, app: "app-a",
                device: "device-a", externalID: "user-a", name: "name-a", data: Array(#"{"a":1}"#.utf8),
                time: time(1901), savedAt: time(1902)),
            state: .rejected, problem: EntryProblem(.tooLong, "problem-a", field: "field-a")),
        EntryRecord(
            entry: CustomEntry(
                number: EntryNumber(62), cause: number(102), kind: .userAttributes,
                destination: .stored(suite: "suite-b", brazeID: "braze-b"), platform: .ios, app: "app-b",
                device: "device-b", externalID: "user-b", name: "name-b", data: Array(#"{"b":2}"#.utf8),
                time: time(2901), savedAt: time(2902)),
            state: .pending, problem: EntryProblem(.tooMany, "problem-b", field: "field-b")),
    ]

    static let moves = [
        EntryMove(
            number: EntryNumber(61), state: .unknown, at: time(1911), by: number(1912),
            claimant: UUID128(high: 1913, low: 1914), reason: "moved-a"),
        EntryMove(
            number: EntryNumber(62), state: .claimed, at: time(2911), by: number(2912),
            claimant: UUID128(high: 2913, low: 2914), reason: "moved-b"),
    ]

    static let attributes = [
        AttributeRow(
            owner: .user("user-a"), kind: .customAttributes, name: "name-a", change: .set(Array("\"a\"".utf8)),
            at: time(1921), entry: EntryNumber(61)),
        AttributeRow(
            owner: .device("device-b"), kind: .userAttributes, name: "name-b", change: .increment(2922),
            at: time(2921), entry: EntryNumber(62)),
    ]

    /// The ledger keeps the last one only.
    static let sending = [
        SendingState(phase: .waiting, reason: "sending-a", failures: 1931, until: time(1932), since: time(1933)),
        SendingState(phase: .stopped, reason: "sending-b", failures: 2931, until: time(2932), since: time(2933)),
    ]

    /// Every kind of record, in an order that a ledger accepts.
    static var records: [LedgerRecord] {
        var records: [LedgerRecord] = Self.requests.map { .request($0) }
        records += invocations.map { .invocation($0) }
        records += attempts.map { .attempt($0) }
        records += deadLetters.map { .deadLetter($0) }
        records += gaps.map { .gap($0) }
        records += lifeSigns.map { .lifeSign($0) }
        records += producers.map { .producer($0) }
        records += events.map { .event($0) }
        records += devices.map { .device($0) } + subscriptionChanges.map { .subscriptions($0) }
        records += fanOuts.map { .fanOut($0) }
        records += configurations.map { .configuration($0) }
        records += acts.map { .audit($0) }
        for row in tracked { records += [.event(Fixture.event(row.seq.value)), .tracker(.delivery(row))] }
        records += interactions.map { .tracker(.interaction($0)) }
        records += sessions.map { .tracker(.session($0)) }
        records += starts.map { .tracker(.starts($0)) }
        records += pendingStarts.map { .tracker(.pendingStart($0)) }
        records += held.map { .tracker(.held($0)) }
        records += entries.map { .customData(.entry($0.entry, $0.state, problem: $0.problem)) }
        records += attributes.map { .customData(.attribute($0)) }
        records += sending.map { .customData(.sending($0)) }
        return records
    }
}
