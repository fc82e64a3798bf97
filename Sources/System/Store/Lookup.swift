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
        /// The producer's user id.
        public var uid: UInt32
        /// The producer's own id.
        public var id: String

        public init(uid: UInt32, id: String) {
            (self.uid, self.id) = (uid, id)
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

        /// A hash of all of it, the same on every thread; it differs from process to process.
        public var hash: UInt64 {
            var hasher = Hasher()
            hash(into: &hasher)
            return UInt64(bitPattern: Int64(hasher.finalize()))
        }
    }

    /// What is asked for.
    public enum Question: Hashable, Sendable {
        /// The request that has this id of its producer.
        case request(Key)
        /// The line of the request with this number.
        case line(SequenceNumber)
        /// The delivery that an interaction names.
        case delivery(DeliveryReference)
        /// The request with this number, to be replayed.
        case dead(SequenceNumber)
        /// The devices of a user.
        case devices(of: String)
        /// The ids that come after one, in the ledger's order, some thousands at most.
        case identifiers(after: Key?)
    }

    /// What the ledger says.
    public enum Answer: Sendable {
        /// The request and all that came of it, all from one state of the ledger; `nil`: it has no such request.
        case story(RequestStory?)
        /// The line of a request; `nil`: it has no such request.
        case line([UInt8]?)
        /// The request, and what is needed to replay it; `nil`: it has no such request.
        case dead(DeadRequest?)
        /// The devices that the ledger knows to be a user's.
        case devices([String])
        /// The hashes of ids, and the last of them; `nil`: there are no more.
        case identifiers([UInt64], last: Key?)
    }

    /// How long the thread waits before it asks again where the ledger could not be read, in microseconds: a failure that
    /// passes is not to end a run, and who waits for an answer is not to wait for long.
    private static let pauses: [UInt32] = [10_000, 50_000, 250_000]

    private let thread: JobThread<(token: UInt64, question: Question)>
    private let onAnswer: @Sendable (_ token: UInt64, Result<Answer, StoreError>) -> Void

    /// - Parameters:
    ///   - directory: the state directory; its ledger must exist when the first question comes.
    ///   - onAnswer: gets every answer with its question's token, in the order of the questions, on the lookup's thread. An
    ///     error was met several times, within a third of a second.
    public init(
        directory: String, onAnswer: @escaping @Sendable (_ token: UInt64, Result<Answer, StoreError>) -> Void
    ) {
        self.onAnswer = onAnswer
        thread = JobThread("lookup") {
            var reader: LedgerReader?
            return { job in
                func ask() -> Result<Answer, StoreError> {
                    Result { () throws(StoreError) in try Self.answer(job.question, &reader, directory) }
                }
                var answer = ask()
                for pause in Self.pauses {
                    guard case .failure(let error) = answer, error.kind == .failed || error.kind == .busy else { break }
                    // By a connection of its own: what this one remembers may be wrong.
                    reader = nil
                    usleep(pause)
                    answer = ask()
                }
                onAnswer(job.token, answer)
            }
        }
    }

    /// Asks; the answer names `token`. That no thread can be started is an answer, too.
    public func submit(_ question: Question, token: UInt64) {
        do throws(SystemError) {
            try thread.submit((token, question))
        } catch {
            onAnswer(token, .failure(StoreError(.failed, message: error.description, context: "a look-up")))
        }
    }

    /// Ends the thread; what it has not answered yet stays unanswered.
    public func stop() { thread.stop() }

    private static func answer(
        _ question: Question, _ opened: inout LedgerReader?, _ directory: String
    ) throws(StoreError) -> Answer {
        let reader: LedgerReader
        if let opened {
            reader = opened
        } else {
            reader = try LedgerReader(directory: directory)
            opened = reader
        }
        switch question {
        case .request(let key): return .story(try reader.find(uid: key.uid, id: key.id))
        case .line(let seq): return .line(try reader.line(of: seq))
        case .delivery(let reference): return .story(try reader.delivery(reference))
        case .dead(let seq): return .dead(try reader.deadRequest(seq))
        case .devices(let user): return .devices(try reader.devices(of: user))
        case .identifiers(let last):
            let keys = try reader.identifiers(after: last, limit: identifiersAtOnce)
            return .identifiers(keys.map(\.hash), last: keys.count < identifiersAtOnce ? nil : keys.last)
        }
    }

    private static let identifiersAtOnce = 4096
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
        statement.bind(last.map { Int64($0.uid) } ?? -1, at: 1)
        statement.bind(last?.id ?? "", at: 2)
        statement.bind(Int64(limit), at: 3)
        var keys: [Lookup.Key] = []
        keys.reserveCapacity(limit)
        while try statement.step() {
            keys.append(Lookup.Key(uid: try statement.number(0), id: statement.text(1) ?? ""))
        }
        return keys
    }
}
