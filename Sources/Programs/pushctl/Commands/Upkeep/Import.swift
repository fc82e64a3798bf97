import PushModel
import PushRouter
import PushSettings

extension Command {
    static let `import` = Command(
        name: "import", summary: "log the custom data that an app stored with Braze's samples",
        description: [
            """
            Reads the entries that the RemoteStorage samples of Braze's documentation keep in UserDefaults until the \
            app starts: the arrays pending_custom_events, pending_custom_attributes and pending_user_attributes. FILE \
            is a property list, binary or XML, such as the app group's own file, or JSON. Each entry is logged as \
            "pushctl log" would log it, into the suite that --suite names, or that the file's name gives if it begins \
            with "group.".
            """,
            """
            Mistakes of the samples are reported with their place, and corrected where the correction is certain: \
            events among the attributes, a name under another key, phone_number. The other entries are sent as they \
            are. The id of an entry is made from its content, so the same file can be imported again: no entry is \
            logged twice, and the output has "accepted before" for an entry of an earlier import. This output needs \
            access to control.sock; without that access it has "accepted".
            """,
            """
            --dry-run prints the requests, one a line, and the rejections that the daemon would give; --dry-run needs \
            no daemon. The exit status is 1 when an entry is not sent or is rejected.
            """,
        ],
        operands: Operands(usage: "remote-storage FILE", count: 2...2),
        options: [.suite, .platform, .app, .device, .externalID, .at, .dryRun, .json],
        examples: [
            Example(
                line: "pushctl import remote-storage shop.plist --platform ios --app shop --dry-run",
                meaning: "show its entries"),
            Example(
                line: "pushctl import remote-storage shop.plist --platform ios --app shop",
                meaning: "log it; the next session of shop flushes it"),
        ]
    ) { arguments, session throws(Failure) in
        guard arguments.operands[0] == "remote-storage" else {
            throw arguments.usageFailure("\(arguments.operands[0]): must be remote-storage")
        }
        let file = try InputFile(arguments.operands[1])
        let storage: RemoteStorage
        do throws(PropertyListError) {
            storage = try RemoteStorage(try StoredValue(contentsOf: file))
        } catch {
            throw Failure(.badData, "\(file.name): \(error.message)")
        }
        for mistake in storage.mistakes { session.output.note("\(file.name): \(mistake)") }
        let suite = arguments[.suite] ?? file.suite ?? EntryDestination.standardSuite
        let requests = try storage.requests(suite: suite, arguments)
        let isComplete =
            try arguments.has(.dryRun) ? session.show(requests, storage) : session.log(requests, storage, arguments)
        return isComplete && storage.lost == 0 ? .done : .no
    }
}

extension StoredValue {
    /// Reads a file: a property list, binary or XML, or JSON.
    fileprivate init(contentsOf file: InputFile) throws(PropertyListError) {
        let bytes: [UInt8]
        do throws(Failure) { bytes = try file.rest() } catch { throw PropertyListError(error.message) }
        if let list = try PropertyList.read(bytes) {
            self = list
            return
        }
        do throws(JSONError) {
            self = StoredValue(try JSONDocument(scanning: bytes, limits: JSONLimits(depth: PropertyList.depthMax)).root)
        } catch {
            throw PropertyListError("neither a property list nor JSON: \(error.message)")
        }
    }
}

extension InputFile {
    /// The app group in the file's name; `nil` if the name has none.
    fileprivate var suite: String? {
        let stem = name.split(separator: "/").last.map { $0.hasSuffix(".plist") ? $0.dropLast(6) : $0 } ?? ""
        return stem.hasPrefix("group.") ? String(stem) : nil
    }
}

extension RemoteStorage {
    /// The requests, without line feeds. The id of equal entries includes how many of them came before, so that none is
    /// taken for a repetition, and so that an entry keeps its id when others are stored behind it.
    fileprivate func requests(suite: String, _ arguments: Arguments) throws(Failure) -> [[UInt8]] {
        var seen: [[UInt8]: Int] = [:]
        let target = [arguments[.app], arguments[.device], arguments[.externalID]].map { $0 ?? "" }
        return try entries.map { entry throws(Failure) in
            var content = JSONWriter()
            StoredValue.object(entry.members).write(to: &content)
            let identity =
                Array("\(entry.kind.rawValue)\n\(suite)\n\(target.joined(separator: "\n"))\n".utf8) + content.bytes
            let count = seen[identity, default: 0]
            seen[identity] = count + 1
            let id = "remote-storage-\(String(stableDigest(identity), radix: 16))-\(count)"
            return try RequestLine.log(entry.kind, entry.members, suite: suite, id: id, arguments)
        }
    }
}

extension Session {
    /// Sends the requests, and prints each reply.
    ///
    /// - Returns: whether the daemon accepted everything.
    fileprivate func log(
        _ requests: [[UInt8]], _ storage: RemoteStorage, _ arguments: Arguments
    ) throws(Failure) -> Bool {
        guard !requests.isEmpty else { return true }
        // Optional: a user who may log need not be allowed to ask for the status.
        let last = try? control(.status)["status"]?["last_seq"]?.int64
        var exchange = try Exchange(path: directories.injectSocket, arguments, output: output, lastBefore: last)
        for (entry, request) in zip(storage.entries, requests) { try exchange.send(request, from: entry.place) }
        try exchange.finish()
        return exchange.refused == 0
    }

    /// Prints the requests, and notes the entries that the daemon would reject.
    ///
    /// - Returns: whether it would accept everything.
    fileprivate func show(_ requests: [[UInt8]], _ storage: RemoteStorage) throws(Failure) -> Bool {
        let rules = try settings().routing.customData
        var isRight = true
        for (entry, line) in zip(storage.entries, requests) {
            output.write(line: line)
            guard let document = try? JSONDocument(scanning: line, limits: JSONLimits(depth: .max)) else { continue }
            var data = CustomData(stateID: UUID128(high: 0, low: 0), rules: rules)
            var ignored = CustomDataOutput()
            let now = LocalTime.now
            let source = EntrySource(
                cause: SequenceNumber(0), destination: .stored(suite: EntryDestination.standardSuite), platform: .ios,
                app: nil,
                device: nil, externalID: nil, at: now)
            for rejection in data.log(entry.kind, document.root, source, now: now, into: &ignored) {
                isRight = false
                output.note("\(entry.place): would be rejected: \(rejection.problem.text)")
            }
        }
        return isRight
    }
}
