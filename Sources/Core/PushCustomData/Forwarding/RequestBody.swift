import PushModel

/// The JSON of a request to `/users/track`.
enum RequestBody {
    /// The most bytes of a body. The provider documents no limit; 1 MiB is what its servers and the proxies between are
    /// sure to take, and at 50 KB an entry still twenty of the largest.
    static let maximumLength = 1 << 20

    /// What a body has beside its elements: `{"attributes":[],"events":[]}`, generously.
    static let frameLength = 64

    /// The object that stands for an entry in its array.
    ///
    /// `app_id` is left out: it is the provider's own identifier of an app, and what we know is the package or bundle.
    static func element(for entry: OutgoingEntry) -> [UInt8] {
        var writer = JSONWriter(reserving: entry.data.count + 160)
        writer.object { writer in
            writer.members(identifying: entry.user)
            if entry.isEvent {
                writer.member("name", entry.name)
                writer.member("time", entry.time.rfc3339)
                if entry.data != emptyObject { writer.member("properties", raw: entry.data) }
            }
        }
        // The members of the attributes follow the identifier in the same object.
        guard !entry.isEvent, entry.data != emptyObject else { return writer.bytes }
        return writer.bytes.dropLast() + [UInt8(ascii: ",")] + entry.data.dropFirst()
    }

    /// A body; an array without elements is left out.
    static func body(attributes: [[UInt8]], events: [[UInt8]]) -> [UInt8] {
        let length = (attributes + events).reduce(frameLength) { $0 + $1.count + 1 }
        var writer = JSONWriter(reserving: length)
        writer.object { writer in
            for (name, elements) in [("attributes", attributes), ("events", events)] where !elements.isEmpty {
                writer.member(name, array: { array in elements.forEach { array.raw($0) } })
            }
        }
        return writer.bytes
    }

    private static let emptyObject = Array("{}".utf8)
}

extension JSONWriter {
    /// The one identifier of an element.
    fileprivate mutating func members(identifying user: UserIdentifier) {
        switch user {
        case .externalID(let id): member("external_id", id)
        case .brazeID(let id): member("braze_id", id)
        case .alias(let name, let label):
            member(
                "user_alias",
                object: {
                    $0.member("alias_name", name)
                    $0.member("alias_label", label)
                })
            // By an alias alone only profiles that exist are changed, and the rest is dropped without an error. A profile
            // too many can be seen and merged; an entry that vanished cannot.
            member("_update_existing_only", false)
        }
    }
}
