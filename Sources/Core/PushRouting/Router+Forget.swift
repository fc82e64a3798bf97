import PushCustomData
public import PushModel
import PushTracking

/// Why a person cannot be forgotten now; the same can be asked again soon.
public struct ForgettingRefused: Error, Hashable, Sendable {
    /// For people.
    public var reason: String
}

extension Router {
    /// Forgets a person: what the tracker, the custom data and the table of devices know. A tap afterwards is on something
    /// unknown. Nothing is written; whoever asks takes the rows out, up to what is returned.
    ///
    /// - Parameter person: whom. The devices that are now known to be the user's are forgotten too.
    /// - Returns: the person with all devices, and how far the rows go that are to be taken out.
    /// - Throws: that something of the person is in flight; nothing is forgotten then.
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
