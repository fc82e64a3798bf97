import PushModel
import PushRouter

// Programs that sent through the gateway.
extension WebDesk {
    func senders(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let found = try search(PushSearch(.everything, limit: 1000, patience: .milliseconds(100)))
        var senders: [(name: String, client: String?, answers: [Int64: Int], last: AcceptedRequest, count: Int)] = []
        for story in found.stories {
            guard let sender = PushFacts(story).sender else { continue }
            let name = [
                sender.client ?? "no User-Agent", sender.project.map { "project \($0)" }, sender.account,
                sender.team.map { "team \($0)" },
            ].compactMap(\.self).joined(separator: ", ")
            let place = senders.firstIndex { $0.name == name } ?? senders.count
            if place == senders.count { senders.append((name, sender.client, [:], story.request, 0)) }
            senders[place].count += 1
            if let answer = sender.answer { senders[place].answers[answer, default: 0] += 1 }
        }
        let table = HTML.table(
            "Programs that sent through the gateway, of the last \(counted(found.stories.count, "push", "pushes"))",
            senders,
            [
                .name("Program, project and account") { sender in
                    sender.client.map { HTML.link("/?query=\("client:\"\($0)\"".percentEncoded)", sender.name) }
                        ?? "\(sender.name)"
                }, .number("Pushes") { "\($0.count)" },
                .words("Answers") { sender in
                    let all = sender.answers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
                    return "\(all.joined(separator: ", "))"
                }, .words("Last one") { "\(HTML.push($0.last.seq)) \(HTML.time($0.last.acceptedAt.wall))" },
            ])
        let empty = HTML.empty(
            "No push of these came through the gateway. This prints the settings of a client:", "pushctl gateway env")
        let content: Markup = """
            \(senders.isEmpty ? empty : table)\(HTML.section("trouble", "Trust and authorization", gatewayTrouble))
            """
        return .response(page(request, title: "Senders", content))
    }

    private var gatewayTrouble: Markup {
        guard let status = daemon.gatewayStatus() else {
            return "<p>The gateway does not answer on its Unix socket: it may not run.</p>\n"
        }
        let handshakes = (status["failed_handshakes"]?.members ?? []).map { ("TLS: \($0.key)", $0.value) }
        let answers = (status["answers"]?.members ?? []).filter { $0.key.hasPrefix("4") || $0.key.hasPrefix("5") }
        let rows = handshakes + answers.map { ("Answer \($0.key)", $0.value) }
        let table = HTML.table(
            "Failed handshakes of TLS, and answers that refused", rows,
            [.name("What") { "\($0.0)" }, .number("Times") { "\($0.1.int64 ?? 0)" }])
        return table.isEmpty
            ? "<p>Each client trusts the gateway's authority, and no request was refused.</p>\n"
            : "\(table)<p>A client that does not trust the authority needs <code>pushctl gateway env</code>.</p>\n"
    }
}
