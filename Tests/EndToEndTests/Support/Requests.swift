/// Requests as a producer writes them.
enum Requests {
    /// An Android payload that the route of a job takes, or the last route for `nil`.
    ///
    /// - Parameters:
    ///   - job: the value of `job` in the payload's data.
    ///   - id: the producer's id.
    ///   - device: what gives it a lane.
    ///   - waits: whether outcome lines follow.
    static func deliver(job: String? = nil, id: String? = nil, device: String? = nil, waits: Bool = true) -> String {
        deliver(
            #""platform":"android","payload":{"data":{"job":"\#(job ?? "none")"}}"#, id: id, device: device,
            waits: waits)
    }

    /// A Braze payload for Android.
    static func braze(message: String, id: String? = nil, device: String? = nil, waits: Bool = true) -> String {
        let data = #"{"_ab":"true","cid":"campaign-1","t":"Title","a":"Text"}"#
        return deliver(
            #""platform":"android","payload":{"messageId":"\#(message)","data":\#(data)}"#, id: id, device: device,
            waits: waits)
    }

    /// What makes an iOS app's delivery lead to two callbacks.
    static let twoCallbacks =
        #""platform":"ios","state":"foreground","payload":{"aps":{"alert":"A","content-available":1}}"#

    /// A delivery with these members besides.
    static func deliver(_ members: String, id: String? = nil, device: String? = nil, waits: Bool = true) -> String {
        var line = #"{"op":"deliver","#
        if let id { line += #""id":"\#(id)","# }
        if let device { line += #""device":"\#(device)","# }
        if waits { line += #""wait":"outcome","# }
        return line + members + "}"
    }

    /// A tap on a notification, with these members besides.
    static func open(_ members: String, id: String? = nil) -> String {
        let id = id.map { #""id":"\#($0)","# } ?? ""
        return #"{"op":"interact","kind":"opened",\#(id)"wait":"outcome",\#(members)}"#
    }
}
