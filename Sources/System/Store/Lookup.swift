import Glibc
import LinuxSystem
public import PushModel

/// A thread that looks requests up, by the producers' ids and by what interactions call deliveries, so that the loop never
/// waits for the disk.
///
/// Thread and connection begin with the first question: a daemon that is asked nothing pays for neither.
/// It sees what is in the ledger; what is accepted and not applied yet only the loop knows.
public final class Lookup: Sendable {
    /// What identifies a request to its producer.
    public struct Key: Hashable, Sendable {
        /// Whose the request is.
        public var account: Account
        /// The producer's own id.
        public var id: String

        public init(account: Account, id: String) {
            (self.account, self.id) = (account, id)
        }

        /// By bytes, as the ledger compares: to `String` two spellings of one letter are equal.
        public static func == (left: Key, right: Key) -> Bool {
            left.account == right.account && left.id.utf8.elementsEqual(right.id.utf8)
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(account)
            var id = id
            id.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }

        /// A hash of all of it, the same on every thread; it differs from process to process.
        public var hash: UInt64 {
            var hasher = Hasher()
            hash(into: &hasher)
            return UInt64(bitPattern: Int64(hasher.finalize()))
        }
    }

    /// What is asked for: one kind of answer each.
    public struct Question<Answer: Sendable>: Sendable {
        fileprivate let byteCount: @Sendable (Answer) -> Int
        fileprivate let read: @Sendable (LedgerReader) throws(StoreError) -> Answer

        fileprivate init(
            byteCount: @escaping @Sendable (Answer) -> Int = { _ in 0 },
            _ read: @escaping @Sendable (LedgerReader) throws(StoreError) -> Answer
        ) {
            (self.byteCount, self.read) = (byteCount, read)
        }
    }

    /// How long the thread waits before it asks again where the ledger could not be read, in microseconds: a failure that
    /// passes is not to end a run, and who waits for an answer is not to wait for long.
    private static let pauses: [UInt32] = [10_000, 50_000, 250_000]

    private let thread: JobThread<@Sendable (inout LedgerReader?) -> Void>
    private let directory: String

    /// - Parameter directory: the state directory; its ledger must exist when the first question comes.
    public init(directory: String) {
        self.directory = directory
        thread = JobThread("lookup") {
            var reader: LedgerReader?
            return { job in job(&reader) }
        }
    }

    /// Asks.
    ///
    /// - Parameter onAnswer: gets the answer, and how many bytes of requests it brings, in the order of the questions, on
    ///   the lookup's thread. An error was met several times, within a third of a second; that no thread can be started is
    ///   one, too.
    public func ask<Answer>(
        _ question: Question<Answer>, onAnswer: @escaping @Sendable (Result<Answer, StoreError>, _ bytes: Int) -> Void
    ) {
        let directory = directory
        do throws(SystemError) {
            try thread.submit { reader in
                var answer = Self.answer(question, &reader, directory)
                for pause in Self.pauses {
                    guard case .failure(let error) = answer, error.kind == .failed || error.kind == .busy else { break }
                    // By a connection of its own: what this one remembers may be wrong.
                    reader = nil
                    usleep(pause)
                    answer = Self.answer(question, &reader, directory)
                }
                onAnswer(answer, (try? answer.get()).map(question.byteCount) ?? 0)
            }
        } catch {
            onAnswer(.failure(StoreError(.failed, message: error.description, context: "a look-up")), 0)
        }
    }

    /// Ends the thread; what it has not answered yet stays unanswered.
    public func stop() { thread.stop() }

    private static func answer<Answer>(
        _ question: Question<Answer>, _ opened: inout LedgerReader?, _ directory: String
    ) -> Result<Answer, StoreError> {
        Result { () throws(StoreError) in
            if let opened { return try question.read(opened) }
            let reader = try LedgerReader(directory: directory)
            opened = reader
            return try question.read(reader)
        }
    }
}

extension Lookup.Question<RequestStory?> {
    /// The request that has this id of its producer, and all that came of it, from one state of the ledger; `nil`: it has no
    /// such request.
    public static func request(_ key: Lookup.Key) -> Self {
        Self(byteCount: { $0?.request.body.count ?? 0 }) { (reader) throws(StoreError) in
            try reader.find(uid: key.account.uid, id: key.id)
        }
    }

    /// The delivery that an interaction names.
    public static func delivery(_ reference: DeliveryReference) -> Self {
        Self(byteCount: { $0?.request.body.count ?? 0 }) { (reader) throws(StoreError) in
            try reader.delivery(reference)
        }
    }
}

extension Lookup.Question<[UInt8]?> {
    /// The line of the request with this number.
    public static func line(_ seq: SequenceNumber) -> Self {
        Self(byteCount: { $0?.count ?? 0 }) { (reader) throws(StoreError) in try reader.line(of: seq) }
    }
}

extension Lookup.Question<DeadRequest?> {
    /// The request with this number, and what is needed to replay it.
    public static func dead(_ seq: SequenceNumber) -> Self {
        Self(byteCount: { $0?.story.request.body.count ?? 0 }) { (reader) throws(StoreError) in
            try reader.deadRequest(seq)
        }
    }
}

extension Lookup.Question<[String]> {
    /// The devices that the ledger knows to be a user's.
    public static func devices(of user: String) -> Self {
        Self { (reader) throws(StoreError) in try reader.devices(of: user) }
    }
}

extension Lookup.Question<Lookup.Identifiers> {
    /// The ids that come after one, in the ledger's order, some thousands at most.
    public static func identifiers(after last: Lookup.Key?) -> Self {
        Self { (reader) throws(StoreError) in
            let keys = try reader.identifiers(after: last, limit: Lookup.identifiersAtOnce)
            return .init(hashes: keys.map(\.hash), last: keys.count < Lookup.identifiersAtOnce ? nil : keys.last)
        }
    }
}

extension Lookup {
    /// A page of ids.
    public struct Identifiers: Sendable {
        /// Their hashes.
        public let hashes: [UInt64]
        /// The last of them; `nil`: there are no more.
        public let last: Key?
    }

    fileprivate static let identifiersAtOnce = 4096
}

extension LedgerReader {
    /// Producers' ids, in the order of their index.
    ///
    /// - Parameters:
    ///   - last: those after this one; `nil`: from the first.
    ///   - limit: how many at most.
    func identifiers(after last: Lookup.Key?, limit: Int) throws(StoreError) -> [Lookup.Key] {
        var statement = try database.prepare(
            """
            SELECT uid, id FROM request_rows INDEXED BY requests_by_id
            WHERE id IS NOT NULL AND (uid, id) > (?1, ?2) ORDER BY uid, id LIMIT ?3
            """)
        statement.bind(last.map { Int64($0.account.uid) } ?? -1, at: 1)
        statement.bind(last?.id ?? "", at: 2)
        statement.bind(Int64(limit), at: 3)
        var keys: [Lookup.Key] = []
        keys.reserveCapacity(limit)
        while try statement.step() {
            keys.append(Lookup.Key(account: Account(uid: try statement.value(0)), id: statement.text(1) ?? ""))
        }
        return keys
    }
}
