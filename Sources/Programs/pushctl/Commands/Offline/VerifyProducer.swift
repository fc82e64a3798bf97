import LinuxSystem
import PushModel
import PushRouter
import PushSettings

extension Option {
    static let producer = Option(
        "producer", .text("USER"), "test requests of this user, by name or number, against the rules of producers.d")
}

extension Session {
    /// Prints what the rules for producers decide about requests of a user, one line each, as if all came at once.
    func verifyProducer(_ arguments: Arguments, user name: String) throws(Failure) -> ExitStatus {
        guard let operand = arguments.operands.first else {
            throw arguments.usageFailure("--producer: the requests are missing: FILE or -")
        }
        let (settings, rules) = try producerRules()
        guard let user = try number(of: name) else {
            throw arguments.usageFailure("--producer \(name): there is no such user on this machine")
        }
        var left = rules
        let places = left.places(ofUser: user) { SystemNumber.groups(of: user) }
        let file = try InputFile(operand)
        var status = ExitStatus.done
        while let line = try file.nextLine() {
            guard !line.allSatisfy(\.isWhitespace) else { continue }
            let verdict: Verdict
            do throws(ProtocolError) {
                let request = try Request(line: line, limits: settings.daemon.jsonLimits)
                verdict = Verdict(
                    rule: left.rule(of: request, among: places),
                    refusal: Result { () throws(ProtocolError) in _ = try left.admit(request, among: places, at: 0) })
            } catch {
                throw Failure(.badData, "\(file.name):\(file.lineNumber): \(error.message)")
            }
            if verdict.refusal != nil { status = .no }
            if arguments.has(.json) {
                output.write(line: verdict.json(line: file.lineNumber))
            } else {
                output.print("\(file.name):\(file.lineNumber): \(verdict.text)\n")
            }
        }
        return status
    }

    private func producerRules() throws(Failure) -> (Settings, ProducerRules) {
        var settings = try settings()
        let sources: ConfigurationSources
        do throws(UnreadableFile) { sources = try configurationSources() } catch {
            throw Failure(.configuration, error.description)
        }
        let errors = sources.lookUpProducers(of: &settings).filter { $0.severity == .error }
        guard errors.isEmpty else {
            throw Failure(.configuration, errors.map(\.description).joined(separator: "\n"))
        }
        return (settings, ProducerRules(settings.producers))
    }

    private func number(of name: String) throws(Failure) -> UInt32? {
        if let number = UInt32(name) { return number }
        do throws(SystemError) {
            return try SystemNumber.find(.user, name)
        } catch {
            throw Failure(.unavailable, error.description)
        }
    }
}

/// The decision of the rules about a request.
private struct Verdict {
    let rule: String?
    let refusal: ProtocolError?

    init(rule: String?, refusal: Result<Void, ProtocolError>) {
        self.rule = rule
        self.refusal = if case .failure(let error) = refusal { error } else { nil }
    }

    var text: String {
        if let refusal {
            return "refused: \(refusal.message)"
                + (refusal.retryAfter.map { "; again after \($0.milliseconds) ms" } ?? "")
        }
        return rule.map { "allowed by producers.d/\($0).producer" }
            ?? "allowed: no file of producers.d matches the sender"
    }

    func json(line: Int) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("line", line)
            writer.member("allowed", refusal == nil)
            writer.member("rule", rule)
            if let refusal { writer.member("error", object: { $0.members(of: refusal) }) }
        }
        return writer.bytes
    }
}
