import LinuxSystem
import PushModel
import PushRouting
import Store

/// Reads again what the router let go of to save memory: what a run's request asks for, before its handler starts.
///
/// The ledger follows the log, so a line that it does not have yet is asked for once more when it has caught up.
final class RunLoader {
    private struct Job {
        var run: HandlerRun
        /// What the next answer brings.
        var expects: Expectation
        /// The batch that the ledger must have before it is asked again; `nil`: it was not waited for.
        var neededBatch: UInt64?
    }

    private enum Expectation {
        case line
        case request
        case past(Request)
        case batch
    }

    /// Tokens from here on are this object's.
    private static let firstToken: UInt64 = 1 << 63

    private let pipeline: CommitPipeline
    private let committer: Committer
    private let lookup: Lookup
    private let reader: LargeRequestReader
    private var start: (HandlerRun) -> Void = { _ in preconditionFailure("a run is loaded before anybody listens") }
    private var fail: (InvocationID, String) -> Void = { _, _ in }
    private var lastToken = RunLoader.firstToken
    private var jobs: [UInt64: Job] = [:]
    /// Up to which batch the ledger has everything.
    private var applied: UInt64
    private var tokens: [InvocationID: UInt64] = [:]

    /// - Parameters:
    ///   - pipeline: says which batch is durable.
    ///   - committer: brings the ledger up to it.
    ///   - lookup: reads the ledger, on a thread of its own.
    ///   - reader: reads request lines, on a thread of its own.
    init(pipeline: CommitPipeline, committer: Committer, lookup: Lookup, reader: LargeRequestReader) {
        self.pipeline = pipeline
        self.committer = committer
        applied = committer.lastNumber
        self.lookup = lookup
        self.reader = reader
    }

    /// - Parameters:
    ///   - start: takes a run that has everything.
    ///   - fail: hears that a run cannot have it, and why.
    func begin(start: @escaping (HandlerRun) -> Void, fail: @escaping (InvocationID, String) -> Void) {
        (self.start, self.fail) = (start, fail)
    }

    /// Fills a run in, then has it started.
    func load(_ run: HandlerRun) {
        lastToken += 1
        jobs[lastToken] = Job(run: run, expects: .line)
        tokens[run.invocation.id] = lastToken
        lookup.submit(.line(run.request.seq), token: lastToken)
    }

    /// Lets go of a run whose time is up.
    func stop(_ invocation: InvocationID) {
        if let token = tokens.removeValue(forKey: invocation) { jobs[token] = nil }
    }

    /// Whether no run waits to be filled in.
    var isIdle: Bool { jobs.isEmpty }

    /// Whether an answer is for this object.
    func owns(_ token: UInt64) -> Bool { token > Self.firstToken }

    // MARK: Answers

    /// The ledger has everything up to a batch.
    func applied(through number: UInt64) {
        applied = number
        for (token, job) in jobs {
            guard case .batch = job.expects, let needed = job.neededBatch, needed <= number else { continue }
            jobs[token]?.expects = .line
            lookup.submit(.line(job.run.request.seq), token: token)
        }
    }

    /// Takes in what the ledger said.
    func answered(_ token: UInt64, _ result: Result<Lookup.Answer, StoreError>) {
        guard let job = jobs[token] else { return }
        switch (job.expects, result) {
        case (.line, .success(.line(let line?))): read(line, of: job, token)
        case (.line, .success(.line(nil))) where job.neededBatch == nil:
            // It is durable, and on its way to the ledger.
            let number = pipeline.durable
            jobs[token]?.neededBatch = number
            guard applied < number else { return lookup.submit(.line(job.run.request.seq), token: token) }
            jobs[token]?.expects = .batch
            committer.hurry(through: number)
        case (.line, .success(.line(nil))): fail(token, "the ledger does not have it")
        case (.past(let request), .success(.story(let story))):
            finish(token, request, story.map(PastDelivery.init))
        case (_, .failure(let error)): fail(token, error.message)
        default: preconditionFailure("a look-up was answered with something else")
        }
    }

    private func read(_ line: [UInt8], of job: Job, _ token: UInt64) {
        jobs[token]?.expects = .request
        do throws(SystemError) {
            // Limits may have been higher when it was accepted.
            try reader.submit(line, limits: JSONLimits(depth: .max), token: token)
        } catch {
            fail(token, error.description)
        }
    }

    /// Takes in the request that a line was read to be.
    func wasRead(_ token: UInt64, _ result: Result<Request, ProtocolError>) {
        guard jobs[token] != nil else { return }
        switch result {
        case .failure(let error): fail(token, error.message)
        case .success(let request):
            guard let job = jobs[token], let reference = DeliveryReference(request, of: job.run.request.seq) else {
                return finish(token, request, nil)
            }
            jobs[token]?.expects = .past(request)
            lookup.submit(.delivery(reference), token: token)
        }
    }

    private func finish(_ token: UInt64, _ request: Request, _ past: PastDelivery?) {
        guard var job = jobs.removeValue(forKey: token) else { return }
        tokens[job.run.invocation.id] = nil
        job.run.complete(with: request, past: past)
        start(job.run)
    }

    private func fail(_ token: UInt64, _ message: String) {
        guard let job = jobs.removeValue(forKey: token) else { return }
        let id = job.run.invocation.id
        tokens[id] = nil
        fail(id, "its payload cannot be read again: \(message)")
    }
}
