import Testing

@testable import PushModel
@testable import PushRouter

@Suite("The rules of producers")
struct ProducerRulesTests {
    private func rule(_ name: String, _ change: (inout ProducerRule) -> Void = { _ in }) -> ProducerRule {
        var rule = ProducerRule(name: name)
        change(&rule)
        return rule
    }

    private func request(_ sender: String) throws -> Request {
        try Request(line: Array(#"{"op":"deliver","payload":{},"sender":{"client":"c"\#(sender)}}"#.utf8))
    }

    @Test(
        "that name a project or an account alone decide about its requests alone",
        arguments: [
            (#","project":"shop""#, "project"), (#","account":"anna""#, "account"),
            (#","project":"shop","account":"anna""#, "project"), (#","project":"bank""#, "all"), ("", "all"),
        ])
    func credentials(_ sender: String, _ name: String) throws {
        let rules = ProducerRules([
            rule("project") { $0.projects = [Glob("shop")] }, rule("account") { $0.accounts = [Glob("anna")] },
            rule("all"), rule("never"),
        ])
        // The first rule that asks for nothing of the request ends the list.
        let places = rules.places(ofUser: 1) { [] }
        #expect(places == [0, 1, 2])
        #expect(try rules.rule(of: request(sender), among: places) == name)
    }

    @Test("for users and groups are those of the connection, whose groups are looked up only if a rule names some")
    func connections() {
        var user = ProducerRule.Member("shop")
        user.number = 7
        let rules = ProducerRules([rule("user") { $0.users = [user] }, rule("group") { $0.groups = [.init("9")] }])
        #expect(rules.places(ofUser: 7) { [] } == [0])
        #expect(rules.places(ofUser: 1) { [8, 9] } == [1])
        #expect(rules.places(ofUser: 9) { [7, 8] } == [])
        var count = 0
        _ = ProducerRules([rule("user") { $0.users = [user] }]).places(ofUser: 7) {
            count += 1
            return []
        }
        #expect(count == 0)
    }
}
