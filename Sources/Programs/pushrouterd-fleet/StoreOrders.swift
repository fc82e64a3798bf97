import LinuxSystem
import PostgreSQL
import PushModel

/// `pushctl store move` and `drain`: gives orders to the nodes, and prints the results.
enum StoreOrders {
    /// Gives an order, waits until it is carried out, and prints the result.
    ///
    /// - Returns: the exit status.
    static func give(_ order: FleetOrder, _ address: ConnectionString) throws(StartFailure) -> Int32 {
        do throws(OrderFailure) {
            return printOutcome(try FleetDatabase.give(order, address), order)
        } catch .refused(.leads(let node), _) {
            print("\(node) leads already")
            return 0
        } catch {
            throw StartFailure(text(error, order), exitStatus: StartFailure.unavailable)
        }
    }

    private static func printOutcome(_ outcome: OrderOutcome, _ order: FleetOrder) -> Int32 {
        switch outcome {
        case .handedOver(let change):
            let from = change.from ?? "nobody"
            print(
                "\(change.to) leads, term \(change.epoch), after \(change.took.milliseconds) ms; between the last batch "
                    + "of \(from) and the first of \(change.to) were \(change.gap.milliseconds) ms")
            if case .move(let wanted?) = order, wanted != change.to { return 1 }
        case .waits(let time):
            print(
                "the leader has not handed over within \(time.milliseconds / 1000) s: \"pushctl store status\" shows who leads; "
                    + "the order stays in force")
            return StartFailure.temporary
        case .noted: break
        }
        switch order {
        case .move: break
        case .drain(let node, _): print("\(node) does not lead until \"pushctl store drain --undo \(node)\"")
        case .undrain(let node): print("\(node) may lead again")
        }
        return 0
    }

    private static func text(_ failure: OrderFailure, _ order: FleetOrder) -> String {
        switch failure {
        case .engine(let problem): "[Store] Log=: \(problem)"
        case .changed: "another machine has begun to lead meanwhile: try again"
        case .refused(let refusal, let tail):
            if case .drain = order {
                "\(text(refusal, tail: tail)); --force drains it all the same"
            } else {
                text(refusal, tail: tail)
            }
        }
    }

    private static func text(_ refusal: Succession.Refusal, tail: UInt64) -> String {
        switch refusal {
        case .noLeader: return "no machine leads, so none can hand over"
        case .unknown(let node): return "no machine \(node) has a copy"
        case .leads(let node): return "\(node) leads already"
        case .drained(let node): return "\(node) is drained; \"pushctl store drain --undo \(node)\" ends that"
        case .tooFarBehind(let copy): return "not near enough to lead: \(text(copy, tail: tail))"
        case .noCandidate(let copies):
            let list = copies.map { text($0, tail: tail) }.joined(separator: ", ")
            return "no other machine is near enough to lead" + (list.isEmpty ? "" : ": \(list)")
        }
    }

    /// `router-2: was 3 batches and 80 ms behind, 400 ms ago`
    static func text(_ copy: CopyNote, tail: UInt64) -> String {
        let behind = tail - min(tail, copy.applied)
        let lag = copy.lag.map { $0 == .zero ? "" : " and \($0.milliseconds) ms" } ?? ""
        return "\(copy.node): was \(behind) batches\(lag) behind, \(copy.age.milliseconds) ms ago"
            + (copy.isDrained ? ", drained" : "")
    }

    /// The version of a copy's program, with a warning if it cannot read the newest batches.
    static func program(_ copy: CopyNote, _ shard: FleetStatus.Shard) -> String {
        let program = copy.program.map { "; pushrouterd \($0)" } ?? ""
        guard copy.reads < shard.version else { return program }
        return "\(program) reads batches of version \(copy.reads) and stopped before those of version "
            + "\(shard.version): upgrade it"
    }
}
