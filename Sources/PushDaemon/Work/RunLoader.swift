import LinuxSystem
import PushModel
import PushRouter
import Store

/// Completes a run before its handler starts: reads its request again, which the router dropped from memory.
///
/// The ledger follows the log: for a line that it does not have yet, the loader asks again after it has caught up.
final class RunLoader {
    /// A run whose request is being read again. If the run is dropped meanwhile, a late answer has no effect.
    private final class Job {
        let run: HandlerRun
        let take: (Loaded) -> Void

        init(_ run: HandlerRun, _ take: @escaping (Loaded) -> Void) { (self.run, self.take) = (run, take) }
    }

    /// The result for a run.
    enum Loaded {
        /// The run is complete.
        case complete(HandlerRun)
        /// The request cannot be read, for this reason.
        case failed(String)
    }

    private let pipeline: CommitPipeline
    private let queries: LedgerQueries
    private let reader: LargeRequestReader
    private var jobs: [InvocationID: Job] = [:]

    /// - Parameters:
    ///   - pipeline: knows which batch is durable.
    ///   - queries: asks the ledger.
    ///   - reader: parses request lines on its thread.
    init(pipeline: CommitPipeline, queries: LedgerQueries, reader: LargeRequestReader) {
        self.pipeline = pipeline
        self.queries = queries
        self.reader = reader
    }

    /// Completes a run.
    ///
    /// - Parameter take: gets the result in a later turn, unless the run is dropped before.
    func load(_ run: HandlerRun, _ take: @escaping (Loaded) -> Void) {
        let job = Job(run, take)
        jobs[run.invocation.id] = job
        findLine(of: job, isApplied: false)
    }

    /// Drops a run whose time is over.
    func stop(_ invocation: InvocationID) { jobs[invocation] = nil }

    /// Whether no run is being completed.
    var isIdle: Bool { jobs.isEmpty }

    // MARK: Steps

    /// - Parameter isApplied: whether the ledger has caught up with the log.
    private func findLine(of job: Job, isApplied: Bool) {
        queries.ask(.line(job.run.request.seq)) { [self, weak job] answer in
            guard let job else { return }
            switch answer {
            case .success(let line?): read(line, of: job)
            case .success(nil) where !isApplied:
                // The line is durable, and on its way to the ledger.
                queries.whenApplied(pipeline.durable) { [self, weak job] in
                    if let job { findLine(of: job, isApplied: true) }
                }
            case .success(nil): fail(job, "the ledger does not have it")
            case .failure(let error): fail(job, error.message)
            }
        }
    }

    private func read(_ line: [UInt8], of job: Job) {
        do throws(SystemError) {
            // The limits may have been higher when the request was accepted.
            try reader.read(line, limits: JSONLimits(depth: .max)) { [self, weak job] result in
                guard let job else { return }
                do throws(ProtocolError) {
                    findDelivery(of: try result.get(), for: job)
                } catch {
                    fail(job, error.message)
                }
            }
        } catch {
            fail(job, error.description)
        }
    }

    private func findDelivery(of request: Request, for job: Job) {
        guard let reference = DeliveryReference(request, of: job.run.request.seq) else {
            return finish(job, request, nil)
        }
        queries.ask(.delivery(reference)) { [self, weak job] answer in
            guard let job else { return }
            do throws(StoreError) {
                finish(job, request, try answer.get().map(PastDelivery.init))
            } catch {
                fail(job, error.message)
            }
        }
    }

    private func finish(_ job: Job, _ request: Request, _ past: PastDelivery?) {
        var run = job.run
        jobs[run.invocation.id] = nil
        run.complete(with: request, past: past)
        job.take(.complete(run))
    }

    private func fail(_ job: Job, _ message: String) {
        jobs[job.run.invocation.id] = nil
        job.take(.failed("its payload cannot be read again: \(message)"))
    }
}
