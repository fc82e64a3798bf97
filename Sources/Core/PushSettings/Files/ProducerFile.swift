import PushModel
import PushRouter

/// The contents of a `.producer` file, before they are checked as a whole.
struct ProducerRuleDraft: Fillable {
    /// The rule, still without its name.
    var rule = ProducerRule(name: "")

    /// Returns the rule, or `nil` if the file does not describe one.
    func validated(name: String, lines: [String: Int], report: inout FileReport) -> ProducerRule? {
        var rule = rule
        rule.name = name
        if rule.users.isEmpty, rule.groups.isEmpty {
            for key in ["Account", "Project"] where lines[key] != nil {
                report.error(
                    "\(key)= needs User= or Group=, such as User=pushrouter-gateway: every client of inject.sock can "
                        + "name any sender",
                    line: lines[key])
            }
        }
        if rule.refusesAll {
            for key in ["Operation", "App", "ExternalID", "Rate", "Burst"] where lines[key] != nil {
                report.error("\(key)= has no meaning with Refuse=yes", line: lines[key])
            }
        }
        if rule.rate == nil, let line = lines["Burst"] { report.error("Burst= needs Rate=", line: line) }
        return report.hasErrors ? nil : rule
    }
}

extension Schema<ProducerRuleDraft> {
    /// `producers.d/*.producer`.
    static let producer = Schema(keys: [
        Key("Match", "User", addingTo: { $1(&$0.rule.users) }, Form<String>.userName.member.list),
        Key("Match", "Group", addingTo: { $1(&$0.rule.groups) }, Form<String>.groupName.member.list),
        Key("Match", "Account", addingTo: { $1(&$0.rule.accounts) }, Form.glob.list),
        Key("Match", "Project", addingTo: { $1(&$0.rule.projects) }, Form.glob.list),
        Key("Producer", "Refuse", { $1(&$0.rule.refusesAll) }, .boolean),
        Key("Producer", "Operation", addingTo: { $1(&$0.rule.operations) }, Form.choice.list),
        Key("Producer", "App", addingTo: { $1(&$0.rule.apps) }, Form.glob.list),
        Key("Producer", "ExternalID", addingTo: { $1(&$0.rule.externalIDs) }, Form.glob.list),
        Key("Producer", "Rate", { $1(&$0.rule.rate) }, Form.integer(1...ProducerRule.rateMax).optional),
        Key("Producer", "Burst", { $1(&$0.rule.burst) }, Form.integer(1...ProducerRule.rateMax).optional),
    ])
}

extension Form<String> {
    /// The user or group of this name.
    fileprivate var member: Form<ProducerRule.Member> {
        Form<ProducerRule.Member> { text throws(ValueError) in ProducerRule.Member(try parse(text)) }
    }
}
