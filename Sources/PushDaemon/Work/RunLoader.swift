import LinuxSystem
import PushModel
import PushRouting
import Store

/// Reads again what the router let go of to save memory: what a run's request asks for, before its handler starts.
///
/// The ledger follows the log, so a line that it does not have yet is asked for once more when it has caught up.
final class RunLoader {
    /// A run on its way. Answers for one that was let go of come to nothing.
    private final class Job {
        let run: HandlerRun
        let take: (Loaded) -> Void

        init(_ run: HandlerRun, _ take: @escaping (Loaded) -> Void) { (self.run, self.take) = (run, take) }
    }

    /// What became of a run.
    enum Loaded {
        /// It has everything.
        case complete(HandlerRun)
        /// It cannot have it, and why.
        case failed(String)
    }

    private let pipeline: CommitPipeline
    private let desk: LedgerDesk
    private let reader: LargeRequestReader
    private var jobs: [InvocationID: Job] = [:]

    /// - Parameters:
    ///   - pipeline: says which batch is durable.
    ///   - desk: asks the ledger.
    ///   - reader: reads request lines, on a thread of its own.
    init(pipeline: CommitPipeline, desk: LedgerDesk, reader: LargeRequestReader) {
        self.pipeline = pipeline
        self.desk = desk
        self.reader = reader
    }

    /// Fills a run in.
    ///
    /// - Parameter take: gets it in a later turn, unless it is let go of before.
    func load(_ run: HandlerRun, _ take: @escaping (Loaded) -> Void) {
        let job = Job(run, take)
        jobs[run.invocation.id] = job
        findLine(of: job, isApplied: false)
    }

    /// Lets go of a run whose time is up.
    func stop(_ invocation: InvocationID) { jobs[invocation] = nil }

    /// Whether no run waits to be filled in.
    var isIdle: Bool { jobs.isEmpty }

    // MARK: Steps

    /// - Parameter isApplied: whether all that was durable is in the ledger.
    private func findLine(of job: Job, isApplied: Bool) {
        desk.ask(.line(job.run.request.seq)) { [self, weak job] answer in
            guard let job else { return }
            switch answer {
            case .success(let line?): read(line, of: job)
            case .success(nil) where !isApplied:
                // It is durable, and on its way to the ledger.
                desk.onceApplied(pipeline.durable) { [self, weak job] in
                    if let job { findLine(of: job, isApplied: true) }
                }
            case .success(nil): fail(job, "the ledger does not have it")
            case .failure(let error): fail(job, error.message)
            }
        }
    }

    private func read(_ line: [UInt8], of job: Job) {
        do throws(SystemError) {
            // Limits may have been higher when it was accepted.
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
        desk.ask(.delivery(reference)) { [self, weak job] answer in
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
