import PushModel

/// A statement that reads requests with a number from ?1 to ?2. A reader compiles each one once.
enum RangeStatement: Hashable {
    case requests, invocations, events, eventsOfDelivery, attempts, attemptsLeftOut, deadLetters, replays, entries
    /// The searched texts of each table.
    case textsOfRequests, textsOfInvocations, campaigns
    /// The numbers of the requests whose column has the text ?3.
    case search(LedgerReader.SearchedColumn)
    /// The numbers of the requests with an undecided invocation.
    case undecided

    /// The columns and the table; the condition on the number follows.
    private var selection: String {
        let (requests, invocations, events) = (LedgerTable.requests, LedgerTable.invocations, LedgerTable.events)
        // Each index is named: the planner would read the whole table in the order that is asked for.
        return switch self {
        case .requests: "\(requests.values()) FROM \(requests.source) WHERE seq"
        case .invocations: "\(invocations.values()) FROM \(invocations.source) WHERE seq"
        case .events: "\(events.values()) FROM \(events.source) INDEXED BY events_by_seq WHERE seq"
        case .eventsOfDelivery:
            "\(events.values()) FROM \(events.source) INDEXED BY events_of_delivery WHERE delivery <> seq AND delivery"
        case .attempts: "\(AttemptRecord.table.values()) FROM attempts INDEXED BY attempts_of_request WHERE seq"
        case .attemptsLeftOut: "seq, n, count FROM attempts_left_out WHERE seq"
        case .deadLetters: "\(DeadLetter.table.values()) FROM dead_letters WHERE seq"
        case .replays: "replay_of, seq FROM request_rows INDEXED BY requests_by_replay WHERE replay_of"
        case .entries:
            "cause, \(LedgerTable.entries.values()) FROM entries INDEXED BY entries_of_request WHERE cause"
        case .textsOfRequests:
            "seq, id, message_id, \(requests.text("app")), device, external_id FROM \(requests.source) WHERE seq"
        case .textsOfInvocations, .search(.outcome), .search(.handler), .search(.shown):
            "seq, outcome, \(invocations.text("handler")) FROM \(invocations.source) WHERE seq"
        case .campaigns, .search(.campaign):
            "seq, \(events.text("campaign_id")) FROM \(events.source) INDEXED BY events_by_seq WHERE seq"
        case .search: "seq FROM \(requests.source) WHERE seq"
        case .undecided:
            "seq FROM invocation_rows INDEXED BY invocations_pending WHERE outcome IS NULL AND seq"
        }
    }

    /// The rest of the condition.
    private var condition: String {
        guard case .search(let column) = self else { return "" }
        let (requests, invocations, events) = (LedgerTable.requests, LedgerTable.invocations, LedgerTable.events)
        return switch column {
        case .id: " AND (id = ?3 OR message_id = ?3)"
        case .app: " AND \(requests.text("app")) = ?3"
        case .device: " AND device = ?3"
        case .user: " AND external_id = ?3"
        case .campaign: " AND \(events.text("campaign_id")) = ?3"
        case .outcome, .shown: " AND \(invocations.text("outcome")) = ?3"
        case .handler: " AND \(invocations.text("handler")) = ?3"
        }
    }

    private var order: String {
        switch self {
        case .requests, .attemptsLeftOut, .replays, .textsOfRequests, .textsOfInvocations, .campaigns, .search,
            .undecided:
            "seq"
        case .invocations, .deadLetters: "seq, n"
        case .events, .eventsOfDelivery: "seq, cursor"
        case .attempts, .entries: "number"
        }
    }

    var sql: String { "SELECT \(selection) BETWEEN ?1 AND ?2\(condition) ORDER BY \(order)" }
}
