import Testing

@testable import PushModel
@testable import PushRouter

@Suite("The delivery that an interaction names")
struct NamedDeliveryTests {
    private let categorized = #"{"aps":{"alert":"T","category":"ab_cat_yes_no"},"ab":{"c":"summer"}}"#

    private func dismissal(_ subject: InteractRequest.Subject) -> Request {
        Request(
            action: .interact(InteractRequest(target: Target(), kind: .dismissed, subject: subject)), id: nil, at: nil,
            waitsForOutcome: false, document: JSONDocument(test: "{}"))
    }

    private let first = SequenceNumber(1)

    @Test(
        "is read for a dismissal on iOS, remembered or not: its category decides whether the app is called")
    func dismissed() throws {
        var bench = Bench()
        let request = Request.deliver(categorized, to: "phone", platform: .ios)
        try bench.submit(request)
        let named = try #require(bench.router.deliveryToRead(for: dismissal(.delivery(first))))
        #expect(named == DeliveryReference(.seq(first), app: nil, device: nil))
        try bench.submit(dismissal(.delivery(first)), past: past(request, bench))
        #expect(bench.row(2)?.callback == .didReceiveResponse)
        #expect(bench.outcome(2) == .handedToTracker)
    }

    @Test("is not read if the tracker remembers it and nothing depends on its payload")
    func fastPath() throws {
        var bench = Bench()
        try bench.submit(.deliver(Payload.braze(message: "m1"), to: "phone"))
        try bench.submit(.deliver(categorized, to: "phone", platform: .ios))
        #expect(bench.router.deliveryToRead(for: .open(seq: 1)) == nil)
        #expect(bench.router.deliveryToRead(for: .open(.message("m1"))) == nil)
        #expect(
            bench.router.deliveryToRead(for: dismissal(.delivery(first))) == nil, "Android tells of every dismissal")
        #expect(bench.router.deliveryToRead(for: .open(seq: 2)) == nil)
    }

    @Test("is not read for a dismissal that the browser's worker of Braze's SDK ignores, whoever observes")
    func ignoredDismissal() throws {
        let watch = Route(name: "watch", match: RouteMatch(), handler: "crm", observes: true)
        var bench = Bench(.testing(routes: [watch, .all(to: "crm")]))
        try bench.submit(.deliver(#"{"t":"T","a":"A","cid":"summer"}"#, to: "browser", platform: .web))
        #expect(bench.router.deliveryToRead(for: dismissal(.delivery(first))) == nil)
        #expect(bench.router.deliveryToRead(for: .open(seq: 1)) != nil, "a click reaches it, and the observer")
    }

    @Test("is read if a route observes taps: its handler gets the payload, and may match by it")
    func observed() throws {
        let watch = Route(
            name: "watch", match: RouteMatch(platforms: [.ios], data: [.init(key: "k", pattern: nil)]), handler: "crm",
            observes: true)
        var bench = Bench(.testing(routes: [watch, .all(to: "crm")]))
        try bench.submit(.deliver(Payload.braze(message: "m1"), to: "phone"))
        let payload = #"{"aps":{"alert":"T"},"ab":{"c":"x"},"k":"v"}"#
        let request = Request.deliver(payload, to: "pad", platform: .ios)
        try bench.submit(request)
        #expect(bench.router.deliveryToRead(for: .open(seq: 1)) == nil, "the route is for iOS alone")
        #expect(bench.router.deliveryToRead(for: .open(seq: 2)) != nil)
        try bench.submit(.open(seq: 2), past: past(request, bench, 2))
        #expect(bench.row(3, 1)?.route == "watch")
    }

    @Test("is read for a click on the web with matching tracks: the click has no key-values")
    func webClick() throws {
        var table = RoutingTable.testing()
        table.tracks = [
            TrackRule(
                name: "push", occasions: [.opened], identifier: .brazeID(keyValue: "braze_id"),
                event: .init(name: .constant("clicked")))
        ]
        var bench = Bench(table)
        let request = Request.deliver(
            #"{"t":"T","a":"A","cid":"summer","ab_ids":{},"e":{"braze_id":"b1"}}"#, to: "browser", platform: .web)
        try bench.submit(request)
        let clicked = JSONDocument(test: #"{"ab_ids":{"cid":"summer"},"actionTargets":{}}"#).root
        let click = Request.open(.payload(clicked), on: "browser", platform: .web)
        #expect(bench.router.deliveryToRead(for: click)?.name == .seq(SequenceNumber(1)))
        try bench.submit(click, past: past(request, bench))
        #expect(bench.end(2)?.reasonCode == .directOpen)
        let row = try #require(bench.ledger.customData.rows.values.first)
        #expect(row.state == .queued && row.entry.destination == .sent(.brazeID("b1")))
        #expect(bench.router.deliveryToRead(for: .open(.payload(clicked), on: "other", platform: .web)) == nil)
    }

    @Test("is read if the tracker does not remember it and it may exist")
    func unknown() throws {
        var bench = Bench()
        try bench.submit(.deliver())
        #expect(bench.router.deliveryToRead(for: .open(seq: 1)) != nil)
        #expect(bench.router.deliveryToRead(for: .open(seq: 2)) == nil, "nobody has this number yet")
        #expect(bench.router.deliveryToRead(for: .open(.message("m"))) != nil)
        #expect(bench.router.deliveryToRead(for: .open(.payload(JSONDocument(test: "{}").root))) == nil)
        #expect(bench.router.deliveryToRead(for: .deliver()) == nil)
    }

    @Test("is the tracker's if it remembers one: another request with the same message id does not count")
    func other() throws {
        var bench = Bench()
        let request = Request.deliver(Payload.message("m1"), to: "phone")
        try bench.submit(request)
        bench.finished(1)
        try bench.submit(.deliver(Payload.braze(message: "m1"), to: "phone", state: .terminated))
        try bench.submit(.open(.message("m1"), on: "phone"), past: past(request, bench))
        #expect(bench.end(3)?.reason == "direct open of delivery 2")
    }

    private func past(_ request: Request, _ bench: Bench, _ number: Int64 = 1) throws -> PastDelivery {
        guard case .deliver(let deliver) = request.action else { preconditionFailure("it is a delivery") }
        let seq = SequenceNumber(number)
        let accepted = try #require(bench.ledger.requests[seq]?.accepted)
        return PastDelivery(
            accepted: accepted, provider: bench.row(number)?.provider, request: deliver)
    }
}
