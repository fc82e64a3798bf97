import Glibc
import LinuxSystem
public import PushModel

/// An administrator's order to a fleet's shard. The nodes read it in their tables, with the lease.
public enum FleetOrder: Sendable {
    /// The leader hands over, to this node or to the one closest to the chain's end.
    case move(to: String?)
    /// The node does not lead until the order is undone; if it leads, it hands over.
    case drain(String, isForced: Bool)
    /// The node may lead again.
    case undrain(String)
}

/// The result of an order.
public enum OrderOutcome: Sendable {
    /// The order is in the tables, and no leader had to hand over.
    case noted
    /// Another node leads.
    case handedOver(Handover)
    /// The leader has not handed over in this time; the order stays in force.
    case waits(Duration)

    /// A change of leader.
    public struct Handover: Sendable {
        /// The former and the new leader.
        public var from: String?, to: String
        /// The new term.
        public var epoch: Int64
        /// The time since the order.
        public var took: Duration
        /// The time from the last batch of the former term to the first one of the new term, by the engine's clock.
        public var gap: Duration
    }
}

/// The reason why an order was not given.
public enum OrderFailure: Error, Sendable {
    /// The database did not answer, or refused.
    case engine(EngineProblem)
    /// The order would leave the shard without a leader; `tail` is the number of the last batch.
    case refused(Succession.Refusal, tail: UInt64)
    /// Another node has begun to lead meanwhile.
    case changed
}

extension FleetDatabase {
    /// Gives an order, and waits until it is carried out.
    ///
    /// - Parameters:
    ///   - order: the order.
    ///   - act: the order as an act, which is committed with it: the leader's ledger gets the row.
    ///   - address: the same address as the nodes'.
    ///   - time: the longest time for a leader to hand over: its handlers end first.
    public static func give(
        _ order: FleetOrder, as act: AuditRecord, _ address: ConnectionString, time: Duration = .seconds(60)
    ) throws(OrderFailure) -> OrderOutcome {
        let begun = now
        var (shard, calls) = try calls(order, address, since: begun)
        calls.append(
            Part(
                call: FleetStatements.addAct(
                    .integer(shard.number), .text(act.subject.act.rawValue), .optional(act.subject.what),
                    .number(act.uid ?? 0), .number(act.pid ?? 0), .text(act.node ?? ""))))
        do throws(EngineProblem) {
            var session = try connect(address, until: Deadline(after: .seconds(5)))
            // The nodes are of an older program.
            let (found, failure) = session.run([[Statements.hasActs()]], until: Deadline(after: .seconds(5)))
            if let failure { throw failure }
            if try found[0].rows[0].first?.bool(0) != true {
                let (_, failure) = session.run([[FleetSchema.createActs()]], until: Deadline(after: .seconds(5)))
                if let failure { throw failure }
            }
            let (answers, problem) = session.run([calls.map(\.call)], until: Deadline(after: .seconds(5)))
            if let problem { throw problem }
            for (call, rows) in zip(calls, answers[0].rows) where call.isNeeded && rows.isEmpty {
                throw EngineProblem(.unreachable, message: "")
            }
        } catch { throw error.message.isEmpty ? .changed : .engine(error) }
        guard calls.contains(where: \.handsOver) else { return .noted }
        return wait(address, above: shard.lease, since: begun, time: time)
    }

    private static var now: Instant { Instant(nanoseconds: SystemClock.monotonicNanoseconds) }

    /// The time for a node to show that it runs: each stores its progress once a second.
    static let proofTime: Duration = .milliseconds(2500)

    /// Returns the shard and the statements of an order. The next leader must have stored its progress since the order
    /// was given.
    private static func calls(
        _ order: FleetOrder, _ address: ConnectionString, since begun: Instant
    ) throws(OrderFailure) -> (shard: FleetStatus.Shard, calls: [Part]) {
        while true {
            let isOver = now - begun >= proofTime
            let shard: FleetStatus.Shard
            do throws(EngineProblem) {
                guard let first = try status(address).shards.first else {
                    throw EngineProblem(.lacking, message: "the database has no shard")
                }
                shard = first
            } catch { throw .engine(error) }
            do throws(Succession.Refusal) {
                return (shard, try calls(order, shard, ageLimit: now - begun, isLast: isOver))
            } catch {
                switch error {
                case .tooFarBehind where !isOver, .noCandidate where !isOver: usleep(50_000)
                default: throw .refused(error, tail: shard.tail.reference.number)
                }
            }
        }
    }

    /// A statement of an order.
    private struct Part {
        var call: Call
        /// Whether it must change a row.
        var isNeeded = false
        /// Whether it makes another node lead.
        var handsOver = false
    }

    /// Returns the statements of an order, for one transaction.
    ///
    /// - Parameter isLast: whether this is the last attempt.
    private static func calls(
        _ order: FleetOrder, _ shard: FleetStatus.Shard, ageLimit: Duration, isLast: Bool
    ) throws(Succession.Refusal) -> [Part] {
        let lease = shard.lease
        let succession = Succession(leader: lease.owner?.node, copies: shard.copies, ageLimit: ageLimit)
        func handsOver(to node: String?) -> Part {
            Part(
                call: FleetStatements.nameSuccessor(
                    .integer(shard.number), .optional(node), .optional(lease.owner?.node), .optional(lease.owner?.id),
                    .number(lease.epoch)), isNeeded: true, handsOver: node != nil)
        }
        switch order {
        case .move(let wanted): return [handsOver(to: try succession.successor(wanted))]
        case .undrain(let node): return [Part(call: try drain(node, shard, isDrained: false), isNeeded: true)]
        case .drain(let node, let isForced):
            var parts = [Part(call: try drain(node, shard, isDrained: true), isNeeded: true)]
            var successor: String?
            do throws(Succession.Refusal) {
                successor = try succession.draining(node)
            } catch {
                guard isForced, isLast else { throw error }
            }
            if node == lease.owner?.node {
                parts.append(handsOver(to: successor))
            } else {
                parts.append(Part(call: FleetStatements.dropSuccessor(.integer(shard.number), .text(node))))
            }
            return parts
        }
    }

    private static func drain(
        _ node: String, _ shard: FleetStatus.Shard, isDrained: Bool
    ) throws(Succession.Refusal) -> Call {
        guard shard.copies.contains(where: { $0.node == node }) else { throw .unknown(node) }
        return FleetStatements.drain(.integer(shard.number), .text(node), .number(isDrained ? 1 : 0))
    }

    /// Waits until a later term has begun.
    private static func wait(
        _ address: ConnectionString, above lease: LeaseRow, since begun: Instant, time: Duration
    ) -> OrderOutcome {
        var session = Session()
        while now - begun < time {
            do throws(EngineProblem) {
                let deadline = Deadline(after: .seconds(2))
                try connect(&session, address, until: deadline)
                let (answers, problem) = session.run(
                    [[FleetStatements.laterTerm(.integer(0), .number(lease.epoch))]], until: deadline)
                if let problem { throw problem }
                if let row = answers[0].rows[0].first {
                    return .handedOver(
                        OrderOutcome.Handover(
                            from: lease.owner?.node, to: try row.text(0), epoch: try row.integer(1),
                            took: now - begun, gap: .microseconds(try row.integer(2))))
                }
                usleep(20_000)
            } catch {
                // The engine may be away at any time. The order is in its tables.
                usleep(200_000)
            }
        }
        return .waits(time)
    }
}
