@testable import PushModel

/// The possible steps, and their effects. A lease has no time here: any follower may take it at any moment, which
/// covers every clock and every pause.
struct Model {
    var nodes = 2
    var requests: UInt8 = 1
    var budget = Budget()
    /// The rule that the mutation takes out.
    var without: Rule?
    /// Whether a promotion resets the row of the lease to its initial state.
    var losesLeaseRow = false

    var start: World { World(nodes: nodes, budget: budget) }

    /// All steps that are possible next.
    func possible(_ world: World) -> [Step] {
        var steps: [Step] = []
        let engine = world.engine
        for (index, message) in engine.flight.enumerated() {
            if engine.fate(of: message.write, without: without) != .blocked {
                steps.append(.handles(message: index))
            } else if message.session.generation == world.nodes[message.session.node].generation {
                steps.append(.lockTimeEnds(message: index))
            }
        }
        if !engine.lag.isEmpty { steps.append(.standbyReceives) }
        if engine.appendIsReplicated { steps.append(.endsAppend) }
        if engine.confirmationIsReplicated { steps.append(.endsConfirmation) }
        if world.budget.cancels > 0 {
            if engine.append != nil { steps.append(.cancelsAppend) }
            if engine.confirmation != nil { steps.append(.cancelsConfirmation) }
        }
        if world.budget.crashes > 0 { steps.append(.crashes) }
        if world.budget.promotions > 0 { steps.append(.promotes) }
        for node in world.nodes { add(node, of: world, to: &steps) }
        return steps
    }

    private func add(_ node: ModelNode, of world: World, to steps: inout [Step]) {
        let (engine, budget, index) = (world.engine, world.budget, node.index)
        if node.generation > 0, engine.has({ $0.node == index && $0.generation < node.generation }) {
            steps.append(.endsLostSessions(index))
        }
        if budget.restarts > 0 { steps.append(.restarts(index)) }
        if node.waits == .nobody { steps.append(.asks(index)) }
        if node.waits == .answer, budget.disconnects > 0 { steps.append(.losesConnection(index)) }
        switch node.role {
        case .follower:
            if node.following(engine, without: without) != .nothing { steps.append(.follows(index)) }
            // Nodes are symmetric: the first to lead is node 0.
            if budget.takes > 0, index == 0 || budget.takes < self.budget.takes {
                steps.append(.takesLease(index, endsSessions: false))
                if engine.has({ $0.node != index }) { steps.append(.takesLease(index, endsSessions: true)) }
            }
        case .taker where node.pending == nil:
            // The taker read up to the tail of that moment: the chain may have grown since, or lost the batches that it
            // read.
            let isBehind = node.following(engine, without: without) != .nothing
            if isBehind { steps.append(.follows(index)) }
            // Without `comparesCopies`, a taker asks only for the id of the tail, and does not notice that its copy
            // differs.
            if isBehind, without == .comparesCopies { break }
            steps.append(engine.tail.epoch > node.epoch ? .givesUp(index) : .appendsTakeover(index))
        case .taker: break
        case .leader:
            var known = node.rows
            var mine = node.next
            mine.add(known)
            if let pending = node.pending { mine.add(pending.rows) }
            if without == .repeatsWait, let pending = node.pending, pending.reference == engine.tail.reference {
                known.add(pending.rows)
            }
            for request in 0..<requests where world.acknowledged & 1 << request == 0 {
                // Requests are symmetric: they come in order.
                guard request == 0 || world.begun & 1 << (request - 1) != 0 else { break }
                if known.requests & 1 << request != 0 {
                    steps.append(.repeats(index, request: request))
                } else if mine.requests & 1 << request == 0 {
                    steps.append(.hears(index, request: request))
                }
            }
            if node.pending == nil, !node.next.isEmpty { steps.append(.appends(index)) }
            // All its rows are written and its handlers have ended: later requests are refused.
            if budget.moves > 0, node.pending == nil,
                without == .movesWhenIdle
                    || node.next.starts | node.next.outcomes == 0 && known.starts & ~known.outcomes & ~known.lost == 0
            {
                steps.append(.handsOver(index))
            }
        }
    }

    /// The world after a step.
    func after(_ step: Step, _ before: World) -> World {
        var world = before
        switch step {
        case .follows(let node): world.nodes[node].follow(world.engine, without: without)
        case .takesLease(let node, let endsSessions): takeLease(node, endsSessions: endsSessions, &world)
        case .appendsTakeover(let node): appendTakeover(node, &world)
        case .givesUp(let node): world.nodes[node].steppedDown()
        case .handsOver(let node):
            world.budget.moves -= 1
            world.nodes[node].steppedDown()
            // Another node may own the row by now.
            if world.engine.lease.owner == node { world.engine.release() }
        case .asks(let node): world.ask(node, without: without)
        case .hears(let node, let request):
            world.begun |= 1 << request
            world.nodes[node].next.requests |= 1 << request
        case .repeats(_, let request): world.acknowledged |= 1 << request
        case .appends(let node):
            let rows = world.nodes[node].next
            world.nodes[node].next = ModelRows()
            world.nodes[node].begin(rows, without: without)
            world.perform(.append, by: node)
        case .restarts(let node):
            world.budget.restarts -= 1
            world.nodes[node].steppedDown()
            world.nodes[node].generation += 1
        case .losesConnection(let node):
            world.budget.disconnects -= 1
            world.disconnect(node)
        default: engineStep(step, &world)
        }
        world.check()
        return world
    }

    private func takeLease(_ node: Int, endsSessions: Bool, _ world: inout World) {
        world.budget.takes -= 1
        let row = without == .termAboveRow ? 0 : world.engine.lease.epoch
        let tail = without == .termAboveTail ? 0 : world.engine.tail.epoch
        let epoch = max(row, tail) + 1
        if epoch <= world.engine.tail.epoch { world.found(.termBelowChain) }
        if world.engine.lease.owner != nil { world.isForced = true }
        world.engine.take(
            by: node, epoch: epoch, isDurable: without != .takeIsDurable && without != .isSynchronous)
        (world.nodes[node].role, world.nodes[node].epoch) = (.taker, epoch)
        guard endsSessions else { return }
        world.engine.end { $0.node != node }
        for other in 0..<nodes where other != node { world.sessionsEnded(of: other) }
    }

    private func appendTakeover(_ node: Int, _ world: inout World) {
        let rows = world.nodes[node].rows
        let lost = rows.starts & ~rows.outcomes & ~rows.lost
        if without == .comparesCopies {
            // The node knows only its number, and asks the engine for the id.
            let rules = ChainWriter(after: world.engine.tail.reference, epoch: world.nodes[node].epoch)
            world.nodes[node].writer = ModelWriter(rules: rules, without: without)
        }
        world.nodes[node].begin(ModelRows(isTakeover: true, lost: lost), without: without)
        world.perform(.append, by: node)
    }

    private func engineStep(_ step: Step, _ world: inout World) {
        switch step {
        case .handles(let index): handle(index, &world)
        case .lockTimeEnds(let index):
            let session = world.engine.flight.remove(at: index).session
            world.answer(session, .unknown(EngineProblem(.unreachable, code: "55P03", message: "")))
        case .endsLostSessions(let node):
            let generation = world.nodes[node].generation
            world.engine.end { $0.node == node && $0.generation < generation }
        case .standbyReceives: world.engine.standbyReceives()
        case .endsAppend, .cancelsAppend:
            guard let session = world.engine.append?.session else { return }
            world.engine.showAppend()
            end(session, isCancelled: step == .cancelsAppend, &world)
        case .endsConfirmation, .cancelsConfirmation:
            guard let session = world.engine.confirmation?.session else { return }
            world.engine.dropConfirmation()
            end(session, isCancelled: step == .cancelsConfirmation, &world)
        case .crashes:
            world.budget.crashes -= 1
            world.engine.crash()
            for node in 0..<nodes { world.sessionsEnded(of: node) }
        case .promotes:
            world.budget.promotions -= 1
            world.engine.promote()
            if losesLeaseRow { world.engine.lease = ModelLease() }
            for node in 0..<nodes { world.sessionsEnded(of: node) }
        default: break
        }
    }

    private func handle(_ index: Int, _ world: inout World) {
        let message = world.engine.flight.remove(at: index)
        guard world.engine.fate(of: message.write, without: without) == .written else {
            world.answer(message.session, .conflict)
            return
        }
        world.engine.flush(message.write, of: message.session)
        if without == .isSynchronous {
            world.engine.showAppend()
            if case .confirm = message.write { world.engine.dropConfirmation() }
        }
        if without == .isSynchronous || without == .waitsForCommit { world.answer(message.session, .committed) }
    }

    private func end(_ session: ModelSession, isCancelled: Bool, _ world: inout World) {
        if isCancelled { world.budget.cancels -= 1 }
        world.answer(session, isCancelled ? .uncertain("") : .committed)
    }

    /// Checks a world in which no step is left.
    func checkEnd(_ world: inout World) {
        guard let owner = world.engine.lease.owner else { return }
        let node = world.nodes[owner]
        guard node.epoch == world.engine.lease.epoch, node.role != .follower else { return }
        let all = UInt8(truncatingIfNeeded: 1 << UInt16(requests) - 1)
        let rows = node.rows
        if node.role != .leader || world.acknowledged != all || rows.outcomes | rows.lost != all { world.found(.stuck) }
    }
}
