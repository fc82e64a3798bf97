@testable import PushModel

/// Nodes, the engine, and the effects visible from outside.
struct World {
    var engine = ModelEngine()
    var nodes: [ModelNode]
    var budget: Budget
    /// Requests that a node has received.
    var begun: UInt8 = 0
    var acknowledged: UInt8 = 0
    var executed: UInt8 = 0
    /// Outcomes that were reported.
    var outcomes: UInt8 = 0
    var lost: UInt8 = 0
    /// Whether a lease was taken that its owner had not released.
    var isForced = false
    /// The first violation.
    var violation: Violation?

    init(nodes count: Int, budget: Budget) {
        nodes = (0..<count).map { ModelNode($0) }
        self.budget = budget
    }

    mutating func found(_ violation: Violation) { self.violation = self.violation ?? violation }

    /// Checks the properties that are visible from outside.
    mutating func check() {
        var requests: UInt8 = 0
        var starts: UInt8 = 0
        var byHandler: UInt8 = 0
        var byLeader: UInt8 = 0
        var previous = UUID128(high: 0, low: 0)
        var takeover: (epoch: Int64, node: UInt64) = (0, 0)
        for batch in engine.log {
            if batch.previous != previous { found(.broken) }
            previous = batch.reference.id
            let rows = batch.rows
            if rows.isTakeover {
                let next = (epoch: batch.epoch, node: previous.high)
                if next.epoch <= takeover.epoch, next != takeover { found(.termTwice) }
                takeover = next
            }
            if requests & rows.requests != 0 { found(.requestTwice) }
            if (byHandler | byLeader) & (rows.outcomes | rows.lost) != 0 { found(.twoOutcomes) }
            requests |= rows.requests
            starts |= rows.starts
            byHandler |= rows.outcomes
            byLeader |= rows.lost
        }
        if byLeader != 0, !isForced { found(.lostByMove) }
        if acknowledged & ~requests != 0 { found(.acknowledgedLost) }
        if executed & ~starts != 0 { found(.startLost) }
        if outcomes & ~byHandler != 0 || lost & ~byLeader != 0 { found(.otherOutcome) }
        for node in nodes where node.role == .leader && node.pending == nil {
            for other in nodes[(node.index + 1)...] where other.role == .leader && other.pending == nil {
                if other.last == node.last { found(.sameBatch) }
            }
        }
    }

    /// A hash that is equal for equal worlds, and different for others except with negligible probability.
    var fingerprint: UInt64 {
        var mixer = Mixer()
        mixer.add(budget.word)
        mixer.add(
            UInt64(begun) | UInt64(acknowledged) << 8 | UInt64(executed) << 16 | UInt64(outcomes) << 24
                | UInt64(lost) << 32)
        mixer.add(isForced ? 1 : 0)
        for batch in engine.chain { mixer.add(batch.reference.id) }
        mixer.add(UInt64(engine.standbyBatches))
        mixer.add(engine.append?.write, engine.append?.session)
        mixer.add(engine.confirmation?.write.id, engine.confirmation?.session)
        mixer.add(engine.lease)
        mixer.add(engine.standbyLease)
        for record in engine.lag {
            switch record {
            case .batch: mixer.add(1)
            case .confirmation: mixer.add(2)
            case .lease(let lease): mixer.add(lease)
            }
        }
        // Messages in flight have no order.
        var flight: UInt64 = 0
        for message in engine.flight {
            var one = Mixer()
            switch message.write {
            case .append(let batch): one.add(batch, message.session)
            case .confirm(let reference):
                one.add(reference.id, message.session)
                one.add(3)
            }
            flight &+= one.value
        }
        mixer.add(flight)
        for node in nodes {
            mixer.add(node.role.rawValue | node.waits.rawValue << 8 | UInt64(node.generation) << 16 | node.drawn << 32)
            mixer.add(UInt64(node.epoch) << 40 | node.next.word)
            for batch in node.copy { mixer.add(batch.reference.id) }
            mixer.add(node.pending, nil)
        }
        return mixer.value
    }
}

/// Hashes many numbers to one: the multiplication and shift of splitmix64 for each.
private struct Mixer {
    var value: UInt64 = 0

    mutating func add(_ word: UInt64) {
        value = (value ^ word) &* 0x9E37_79B9_7F4A_7C15
        value ^= value >> 29
    }

    mutating func add(_ id: UUID128) { add(id.high << 56 ^ id.low) }

    mutating func add(_ lease: ModelLease) { add(UInt64(lease.epoch) << 8 | UInt64((lease.owner ?? -1) + 1)) }

    mutating func add(_ id: UUID128?, _ session: ModelSession?) {
        if let id { add(id) } else { add(0) }
        if let session { add(UInt64(session.node + 1) << 8 | UInt64(session.generation)) }
    }

    mutating func add(_ batch: ModelBatch?, _ session: ModelSession?) {
        add(batch?.reference.id, session)
        // Without random ids a batch with this id may have another term.
        if let batch { add(UInt64(batch.epoch)) }
    }
}
