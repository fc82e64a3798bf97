/// A controller of cgroups (version 2), by its name in the kernel.
public enum CgroupController: String, Sendable, CaseIterable {
    case cpu, memory, pids
}

/// The limits for all processes of a run together (cgroup-v2.rst in the kernel's documentation).
public struct CgroupLimits: Hashable, Sendable {
    /// The memory in bytes; above it the kernel kills the run.
    public var memoryMax: Int?
    /// The number of processes and threads at the same time.
    public var tasksMax: Int?
    /// The share of the processor relative to other runs, 1 to 10000; the default is 100.
    public var processorWeight: Int?

    /// Joins the parts; `nil` means no limit.
    public init(memoryMax: Int? = nil, tasksMax: Int? = nil, processorWeight: Int? = nil) {
        self.memoryMax = memoryMax
        self.tasksMax = tasksMax
        self.processorWeight = processorWeight
    }

    /// The controllers that the limits need.
    public var controllers: [CgroupController] {
        (processorWeight == nil ? [] : [.cpu]) + (memoryMax == nil ? [] : [.memory]) + (tasksMax == nil ? [] : [.pids])
    }

    /// The values to write, in this order.
    var files: [(controller: CgroupController, name: String, text: String)] {
        var files: [(controller: CgroupController, name: String, text: String)] = []
        if let memoryMax {
            files.append((.memory, "memory.max", "\(memoryMax)"))
            // memory.oom.group: the kernel kills the whole run, because a part of it cannot do the work of the rest.
            files.append((.memory, "memory.oom.group", "1"))
        }
        if let tasksMax { files.append((.pids, "pids.max", "\(tasksMax)")) }
        if let processorWeight { files.append((.cpu, "cpu.weight", "\(processorWeight)")) }
        return files
    }
}
