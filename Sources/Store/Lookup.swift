import LinuxSystem
import Synchronization

/// A thread that looks requests up, by the producers' ids and by what interactions call deliveries, so that the loop never
/// waits for the disk.
///
/// Thread and connection begin with the first question: a daemon that is asked nothing pays for neither.
/// It sees what is on disk; what is accepted and not yet committed only the loop knows.
public final class Lookup: Sendable {
    /// What identifies a request to its producer.
    public struct Key: Hashable, Sendable {
        /// The producer's user id.
        public var uid: UInt32
        /// The producer's own id.
        public var id: String

        /// Joins the two.
        public init(uid: UInt32, id: String) {
            self.uid = uid
            self.id = id
        }

        /// By bytes, as the ledger compares: to `String` two spellings of one letter are equal.
        public static func == (left: Key, right: Key) -> Bool {
            left.uid == right.uid && left.id.utf8.elementsEqual(right.id.utf8)
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(uid)
            var id = id
            id.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }

    /// What is asked for.
    public enum Item: Hashable, Sendable {
        /// The request that has this id of its producer.
        case request(Key)
        /// The delivery that an interaction names.
        case delivery(DeliveryReference)
    }

    /// The answer to one question.
    public struct Answer: Sendable {
        /// The question's token.
        public var token: UInt64
        /// For each item, in order, the request and all that came of it, or `nil`; all from one state of the ledger.
        public var result: Result<[RequestStory?], StoreError>
    }

    private struct Inbox: Sendable {
        var questions: [(token: UInt64, items: [Item])] = []
        var isStopping = false
    }

    private let inbox = Monitor(Inbox())
    private let thread = Mutex<WorkerThread?>(nil)
    private let directory: String
    private let onAnswer: @Sendable (Answer) -> Void

    /// - Parameters:
    ///   - directory: the state directory; its ledger must exist when the first question comes.
    ///   - onAnswer: gets every answer, in the order of the questions, on the lookup's thread.
    public init(directory: String, onAnswer: @escaping @Sendable (Answer) -> Void) {
        self.directory = directory
        self.onAnswer = onAnswer
    }

    deinit { stop() }

    /// Asks for items; the answer names `token`. That no thread can be started is an answer, too.
    public func submit(_ items: [Item], token: UInt64) {
        do throws(StoreError) {
            try thread.withLock { (thread) throws(StoreError) in
                guard thread == nil else { return }
                let (inbox, directory, onAnswer) = (inbox, directory, onAnswer)
                thread = try storeThread("lookup") { Self.run(inbox, directory, onAnswer) }
            }
        } catch {
            return onAnswer(Answer(token: token, result: .failure(error)))
        }
        inbox.update { $0.questions.append((token, items)) }
    }

    /// Ends the thread; what it has not answered yet stays unanswered.
    public func stop() {
        inbox.update { $0.isStopping = true }
        thread.withLock { $0.take() }?.join()
    }

    private static func run(_ inbox: Monitor<Inbox>, _ directory: String, _ onAnswer: (Answer) -> Void) {
        var reader: LedgerReader?
        while true {
            let taken = inbox.wait { inbox -> Inbox? in
                guard inbox.isStopping || !inbox.questions.isEmpty else { return nil }
                defer { inbox.questions = [] }
                return inbox
            }
            guard let taken, !taken.isStopping else { return }
            for question in taken.questions {
                let result = Result { () throws(StoreError) in try answer(question.items, &reader, directory) }
                onAnswer(Answer(token: question.token, result: result))
            }
        }
    }

    private static func answer(
        _ items: [Item], _ reader: inout LedgerReader?, _ directory: String
    ) throws(StoreError) -> [RequestStory?] {
        if reader == nil { reader = try LedgerReader(directory: directory) }
        return try reader?.find(items) ?? []
    }
}

extension LedgerReader {
    fileprivate func find(_ items: [Lookup.Item]) throws(StoreError) -> [RequestStory?] {
        try snapshot { () throws(StoreError) in
            var stories: [RequestStory?] = []
            stories.reserveCapacity(items.count)
            for item in items {
                switch item {
                case .request(let key): stories.append(try find(uid: key.uid, id: key.id))
                case .delivery(let reference): stories.append(try delivery(reference))
                }
            }
            return stories
        }
    }
}
