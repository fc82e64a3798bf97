import JSONC
import PushRouter
import PushSettings

extension EndpointReport {
    /// Parses the body of a response; `nil` if it is not a JSON object.
    init?(_ body: [UInt8]) {
        guard let root = try? JSONTree(scanning: body).root, root.isObject else { return nil }
        self.init(
            message: root["message"]?.string, attributesProcessed: root["attributes_processed"]?.int64,
            eventsProcessed: root["events_processed"]?.int64,
            errors: (root["errors"]?.elements ?? []).map { error in
                Problem(
                    array: error["input_array"]?.string, index: error["index"]?.int64,
                    text: error["type"]?.string ?? error.string ?? String(decoding: error.bytes, as: UTF8.self))
            })
    }
}
