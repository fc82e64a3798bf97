import PushModel

/// The buttons of a delivery as bytes: for each what it does, how long its id is, and the id.
enum ButtonList {
    /// Fixed for good: ledgers hold it.
    private static let actions: [ButtonAction] = [.uri, .deepLink, .none, .close]

    /// At most this many bytes: a payload has four kilobytes, ids of buttons a few.
    private static let lengthMax = 4096

    static func bytes(_ buttons: [TrackedDelivery.Button]) -> [UInt8] {
        var bytes: [UInt8] = []
        for button in buttons {
            guard let code = actions.firstIndex(of: button.action), button.id.utf8.count <= 255,
                bytes.count + button.id.utf8.count + 2 <= lengthMax
            else { continue }
            bytes.append(UInt8(code))
            bytes.append(UInt8(button.id.utf8.count))
            bytes.append(contentsOf: button.id.utf8)
        }
        return bytes
    }

    /// What the button with this id does; the first one counts.
    static func action(of id: String, in bytes: [UInt8]) -> ButtonAction? {
        var start = 0
        while start + 2 <= bytes.count {
            let end = min(start + 2 + Int(bytes[start + 1]), bytes.count)
            if bytes[start + 2..<end].elementsEqual(id.utf8), actions.indices.contains(Int(bytes[start])) {
                return actions[Int(bytes[start])]
            }
            start = end
        }
        return nil
    }
}
