import TestSupport

@testable import PushModel

/// A violation that a search found.
struct Finding {
    var violation: Violation
    /// The steps to the violation, a sentence each.
    var steps: [String]
}

extension Finding: CustomStringConvertible {
    var description: String { (["\(violation.rawValue):"] + steps).joined(separator: "\n    ") }
}

extension Model {
    /// Visits all reachable worlds, the nearest first, up to a limit.
    ///
    /// - Parameter wanted: the violation to look for; the search leaves out worlds with another one. `nil`: any.
    /// - Returns: the number of worlds, whether these are all, and the shortest path to the first violation.
    func search(
        atMost limit: Int, for wanted: Violation? = nil
    ) -> (states: Int, isComplete: Bool, finding: Finding?) {
        var seen: Set<UInt64> = [start.fingerprint]
        var origins: [(parent: Int32, step: Step)] = [(-1, .standbyReceives)]
        var level = [(number: 0, world: start)]
        while !level.isEmpty {
            var next: [(number: Int, world: World)] = []
            for (number, world) in level {
                let steps = possible(world)
                if steps.isEmpty {
                    var end = world
                    checkEnd(&end)
                    if let violation = end.violation, wanted == nil || wanted == violation {
                        return (seen.count, false, Finding(violation: violation, steps: trace(to: number, origins)))
                    }
                }
                for step in steps {
                    let after = after(step, world)
                    if let violation = after.violation {
                        guard wanted == nil || wanted == violation else { continue }
                        let way = trace(to: number, origins) + [describe(step, world, after)]
                        return (seen.count, false, Finding(violation: violation, steps: way))
                    }
                    guard seen.insert(after.fingerprint).inserted else { continue }
                    next.append((origins.count, after))
                    origins.append((Int32(number), step))
                    if seen.count >= limit { return (seen.count, false, nil) }
                }
            }
            level = next
        }
        return (seen.count, true, nil)
    }

    private func trace(to number: Int, _ origins: [(parent: Int32, step: Step)]) -> [String] {
        var steps: [Step] = []
        var number = number
        while number > 0 {
            steps.append(origins[number].step)
            number = Int(origins[number].parent)
        }
        return told(steps.reversed())
    }

    /// The steps from the start on, a sentence each.
    private func told(_ steps: [Step]) -> [String] {
        var world = start
        return steps.map { step in
            let before = world
            world = after(step, before)
            return describe(step, before, world)
        }
    }

    /// One random path through the worlds.
    func walk(seed: UInt64, atMost limit: Int) -> (steps: Int, end: World, finding: Finding?) {
        var random = SeededGenerator(seed: seed)
        var world = start
        var taken: [Step] = []
        while taken.count < limit {
            let steps = possible(world)
            guard let step = steps.randomElement(using: &random) else {
                checkEnd(&world)
                break
            }
            taken.append(step)
            world = after(step, world)
            if world.violation != nil { break }
        }
        return (taken.count, world, world.violation.map { Finding(violation: $0, steps: told(taken)) })
    }

    private func describe(_ step: Step, _ before: World, _ after: World) -> String {
        switch step {
        case .follows(let node):
            let (old, new) = (before.nodes[node].copy, after.nodes[node].copy)
            return new.dropLast() == old[...]
                ? "\(name(ofNode: node)) follows by \(new[new.count - 1])" : "\(name(ofNode: node)) sets its copy aside"
        case .takesLease(let node, let ends):
            let sessions = ends ? ", ends the others' sessions" : ""
            return "\(name(ofNode: node)) takes the lease, term \(after.nodes[node].epoch)\(sessions)"
        case .appendsTakeover(let node), .appends(let node):
            guard let batch = after.nodes[node].pending else { return "" }
            return "\(name(ofNode: node)) appends \(batch)"
        case .handsOver(let node): return "\(name(ofNode: node)) hands over"
        case .givesUp(let node): return "\(name(ofNode: node)) gives up: the chain's term is higher"
        case .asks(let node):
            return "\(name(ofNode: node)) asks, and finds \(name(ofModelID: before.engine.tail.reference.id))"
        case .hears(let node, let request): return "\(name(ofNode: node)) hears request \(request)"
        case .repeats(let node, let request): return "\(name(ofNode: node)) answers the repeat of request \(request)"
        case .restarts(let node): return "\(name(ofNode: node)) restarts"
        case .losesConnection(let node): return "\(name(ofNode: node)) loses its connection"
        case .handles(let index):
            let message = before.engine.flight[index]
            return "the engine \(before.engine.fate(of: message.write, without: without).rawValue) \(told(message))"
        case .lockTimeEnds(let index): return "the lock time ends of \(told(before.engine.flight[index]))"
        case .endsLostSessions(let node): return "the engine ends the lost sessions of \(name(ofNode: node))"
        case .standbyReceives: return "the standby receives a record"
        case .endsAppend: return "the append ends: its batch can be seen"
        case .endsConfirmation: return "the confirmation ends"
        case .cancelsAppend: return "the wait of the append is cancelled"
        case .cancelsConfirmation: return "the wait of the confirmation is cancelled"
        case .crashes: return "the primary crashes and starts anew"
        case .promotes: return "the standby is promoted with \(after.engine.chain.count - 1) batches"
        }
    }

    private func told(_ message: (session: ModelSession, write: ModelWrite)) -> String {
        let by = "of \(name(ofNode: message.session.node)), session \(message.session.generation)"
        switch message.write {
        case .append(let batch): return "\(batch) \(by)"
        case .confirm(let reference): return "the confirmation of \(name(ofModelID: reference.id)) \(by)"
        }
    }
}
