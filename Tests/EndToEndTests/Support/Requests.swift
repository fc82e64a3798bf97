/// Requests in the form of a producer.
enum Requests {
    /// Returns a delivery of an Android payload for the route of a job; `nil`: for the last route.
    ///
    /// - Parameters:
    ///   - job: the value of `job` in the payload's data.
    ///   - id: the producer's id.
    ///   - device: the device, which gives the delivery a lane.
    ///   - waits: whether outcome lines follow.
    static func deliver(job: String? = nil, id: String? = nil, device: String? = nil, waits: Bool = true) -> String {
        deliver(
            #""platform":"android","payload":{"data":{"job":"\#(job ?? "none")"}}"#, id: id, device: device,
            waits: waits)
    }

    /// Returns a delivery of a Braze payload for Android.
    static func braze(message: String, id: String? = nil, device: String? = nil, waits: Bool = true) -> String {
        let data = #"{"_ab":"true","cid":"campaign-1","t":"Title","a":"Text"}"#
        return deliver(
            #""platform":"android","payload":{"messageId":"\#(message)","data":\#(data)}"#, id: id, device: device,
            waits: waits)
    }

    /// The members of an iOS delivery that leads to two callbacks.
    static let twoCallbacks =
        #""platform":"ios","state":"foreground","payload":{"aps":{"alert":"A","content-available":1}}"#

    /// Returns a delivery with these members.
    static func deliver(_ members: String, id: String? = nil, device: String? = nil, waits: Bool = true) -> String {
        var line = #"{"op":"deliver","#
        if let id { line += #""id":"\#(id)","# }
        if let device { line += #""device":"\#(device)","# }
        if waits { line += #""wait":"outcome","# }
        return line + members + "}"
    }

    /// Returns a tap on a notification with these members.
    static func open(_ members: String, id: String? = nil) -> String {
        let id = id.map { #""id":"\#($0)","# } ?? ""
        return #"{"op":"interact","kind":"opened",\#(id)"wait":"outcome",\#(members)}"#
    }
}
