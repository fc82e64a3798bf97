@testable import PushModel

// The nodes' reactions to answers of the engine.
extension World {
    /// Delivers the answer to a write of a session; only that session, while it still waits, hears it.
    mutating func answer(_ session: ModelSession, _ result: AppendResult) {
        let node = nodes[session.node]
        guard node.generation == session.generation, node.waits == .answer else { return }
        answered(session.node, result)
    }

    private mutating func answered(_ node: Int, _ result: AppendResult) {
        nodes[node].waits = .nothing
        guard let step = nodes[node].writer?.answered(result) else { return }
        perform(step, by: node)
    }

    /// Lets a node read the tail.
    mutating func ask(_ node: Int, without rule: Rule?) {
        nodes[node].waits = .nothing
        guard let step = nodes[node].writer?.found(engine.tail) else { return }
        if step == .append, rule == .keepsBytes, let pending = nodes[node].pending {
            // New bytes under the number, with the rows that came meanwhile.
            var rows = pending.rows
            if !rows.isTakeover {
                rows.add(nodes[node].next)
                nodes[node].next = ModelRows()
            }
            nodes[node].writer = nil
            nodes[node].begin(rows, without: rule)
        }
        perform(step, by: node)
    }

    mutating func perform(_ step: ChainWriter.Step, by node: Int) {
        switch step {
        case .append:
            if let pending = nodes[node].pending { send(.append(pending), by: node) }
        case .confirm:
            if let pending = nodes[node].pending { send(.confirm(pending.reference), by: node) }
        case .reconnect: nodes[node].waits = .nobody
        case .acknowledge: acknowledge(node)
        case .fenced:
            let tail = engine.tail
            // A taker keeps reading, and may find the takeover that it had given up.
            if nodes[node].role == .leader, nodes[node].drew(tail.reference.id), tail.epoch == nodes[node].epoch {
                found(.fencedByOwn)
            }
            stepDown(node)
        case .lost:
            found(.durableLost)
            stepDown(node)
        }
    }

    private mutating func send(_ write: ModelWrite, by node: Int) {
        engine.flight.append((nodes[node].session, write))
        nodes[node].waits = .answer
    }

    /// Makes a leader a follower; a taker that lost the race for the next number keeps reading.
    private mutating func stepDown(_ node: Int) {
        if nodes[node].role == .taker {
            (nodes[node].writer, nodes[node].pending) = (nil, nil)
        } else {
            nodes[node].steppedDown()
        }
    }

    private mutating func acknowledge(_ node: Int) {
        let rows = nodes[node].acknowledged()
        acknowledged |= rows.requests
        if executed & rows.starts != 0 { found(.handlerTwice) }
        executed |= rows.starts
        outcomes |= rows.outcomes
        lost |= rows.lost
        let (copy, log) = (nodes[node].copy, engine.log)
        if copy.count > log.count || zip(copy, log).contains(where: { $0.reference != $1.reference }) { found(.fork) }
    }

    /// Breaks a node's connection: its writes in flight may still be handled.
    mutating func disconnect(_ node: Int) {
        nodes[node].generation += 1
        if nodes[node].waits == .answer {
            answered(node, .unknown(EngineProblem(.unreachable, message: "")))
        }
    }

    /// Ends all sessions of a node at the engine.
    mutating func sessionsEnded(of node: Int) {
        if nodes[node].waits == .answer { disconnect(node) }
        nodes[node].generation = 0
    }
}
