import PushCustomData
public import PushModel
import PushTracking

/// The reason why a person cannot be erased now; the caller may ask again soon.
public struct ForgettingRefused: Error, Hashable, Sendable {
    /// The reason, for people.
    public var reason: String
}

extension Router {
    /// Erases a person from the tracker, the custom data and the table of devices. A later tap finds no delivery.
    /// Writes no rows: the caller deletes the rows up to the returned bound.
    ///
    /// - Parameter person: the person. The devices whose last known user it is are erased too.
    /// - Returns: the person with all devices, and the bound of the rows to delete.
    /// - Throws: if the person has an invocation in flight; nothing is erased then.
    public mutating func forget(_ person: Person) throws(ForgettingRefused) -> (Person, ErasureBound) {
        var person = person
        if let user = person.externalID {
            person.devices.formUnion(memory.devices.known.names(of: user))
        }
        let inFlight = invocations.ids.count { id in
            invocations[id].map { person.includes(user: $0.request.externalID, device: $0.request.device) } == true
        }
        guard inFlight == 0 else {
            throw ForgettingRefused(
                reason: "\(counted(inFlight, "invocation")) for this person \(inFlight == 1 ? "is" : "are") in flight")
        }
        guard !memory.customData.isBusy(with: person) else {
            throw ForgettingRefused(reason: "the forwarder has entries of this person, or a session flushes its suites")
        }
        memory.forget(person)
        return (person, ErasureBound(request: lastNumber, entry: memory.customData.lastNumber))
    }
}
