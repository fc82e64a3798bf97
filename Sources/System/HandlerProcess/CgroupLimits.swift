/// A controller of cgroups (version 2), by the name that the kernel gives it.
public enum CgroupController: String, Sendable, CaseIterable {
    case cpu, memory, pids
}

/// What the processes of a run may use together, as cgroup-v2.rst in the kernel's documentation defines it.
public struct CgroupLimits: Hashable, Sendable {
    /// Bytes of memory; beyond them the kernel kills the run.
    public var memoryMax: Int?
    /// How many processes and threads there are at once.
    public var tasksMax: Int?
    /// The share of the processor beside other runs, 1 to 10000; a run that has none set has 100.
    public var processorWeight: Int?

    /// Joins the parts; `nil` is no limit.
    public init(memoryMax: Int? = nil, tasksMax: Int? = nil, processorWeight: Int? = nil) {
        self.memoryMax = memoryMax
        self.tasksMax = tasksMax
        self.processorWeight = processorWeight
    }

    /// The controllers without which it has no effect.
    public var controllers: [CgroupController] {
        (processorWeight == nil ? [] : [.cpu]) + (memoryMax == nil ? [] : [.memory]) + (tasksMax == nil ? [] : [.pids])
    }

    /// What is written, in this order.
    var files: [(controller: CgroupController, name: String, text: String)] {
        var files: [(controller: CgroupController, name: String, text: String)] = []
        if let memoryMax {
            files.append((.memory, "memory.max", "\(memoryMax)"))
            // A run is one thing: half of it would go on with what the other half no longer does.
            files.append((.memory, "memory.oom.group", "1"))
        }
        if let tasksMax { files.append((.pids, "pids.max", "\(tasksMax)")) }
        if let processorWeight { files.append((.cpu, "cpu.weight", "\(processorWeight)")) }
        return files
    }
}
