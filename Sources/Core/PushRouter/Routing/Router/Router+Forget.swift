public import PushModel

/// The reason why a person cannot be forgotten now; the caller may ask again soon.
public struct ForgettingRefused: Error, Hashable, Sendable {
    /// The reason, for people.
    public var reason: String
}

extension Router {
    /// The bound of an erasure that is ordered now: later requests and entries of the person are new.
    ///
    /// - Returns: the person with the devices whose last known user this is, and the last request and entry.
    public func bound(of person: Person) -> (Person, ErasureBound) {
        var person = person
        if let user = person.externalID { person.devices.formUnion(memory.devices.known.names(of: user)) }
        return (person, ErasureBound(request: lastNumber, entry: memory.customData.lastNumber))
    }

    /// Forgets a person up to a bound: drops the person's data from the tracker, the custom data and the table of
    /// devices. A later tap on a dropped delivery is on an unknown notification. Writes nothing; the caller deletes the
    /// rows up to the bound.
    ///
    /// - Parameters:
    ///   - person: the person with all devices.
    ///   - bound: what later requests made stays.
    /// - Throws: `ForgettingRefused` if an invocation or an entry of the person up to the bound is in flight; nothing
    ///   is forgotten then.
    public mutating func forget(_ person: Person, through bound: ErasureBound) throws(ForgettingRefused) {
        let inFlight = invocations.ids.count { id in
            id.seq <= bound.request
                && invocations.read(id) {
                    person.includes(user: $0.request.externalID, device: $0.request.device)
                } == true
        }
        guard inFlight == 0 else {
            throw ForgettingRefused(
                reason: "\(counted(inFlight, "invocation")) for this person \(inFlight == 1 ? "is" : "are") in flight")
        }
        guard !memory.customData.isBusy(with: person, through: bound.entry) else {
            throw ForgettingRefused(reason: "the forwarder has entries of this person, or a session flushes its suites")
        }
        memory.forget(person, through: bound)
    }
}
