import PushModel

/// A folder of the configuration. The daemon reads its files with one extension.
public enum ConfigurationFolder: String, Hashable, Sendable, CaseIterable {
    /// Rules that assign payloads to a provider.
    case provider
    /// Programs and services that handle payloads.
    case handler
    /// Rules that assign payloads to a handler.
    case route
    /// Rules for entries to send to `/users/track`.
    case track
    /// The devices of tokens that no app registers.
    case registration

    /// The name of the folder.
    public var name: String { "\(rawValue)s.d" }

    /// The ending of its file names.
    public var suffix: String { ".\(rawValue)" }

    /// The folders of drop-ins, and the ending of their file names.
    public static let dropIns = (folders: ["pushrouterd.conf.d", "gateway.conf.d", "web.conf.d"], suffix: ".conf")

    /// Returns the warning about a file that is not read, in a folder whose file names have an ending.
    ///
    /// - Returns: `nil` when it is read, and when its name shows that it is not meant to be.
    public static func remark(onFile name: String, in folder: String, suffix: String) -> String? {
        guard !name.hasSuffix(suffix), !isIgnoredName(name) else { return nil }
        let stem = name.lastIndex(of: ".").map { name[..<$0] } ?? name[...]
        return
            "is not read: the name of a file in \(folder) ends in \(suffix); rename it to \(stem)\(suffix), or to "
            + "\(name).disabled to disable it"
    }

    /// Returns the warning about an unknown folder with a similar name; `nil` without one.
    public static func remark(onFolder name: String) -> String? {
        let names = allCases.map(\.name) + dropIns.folders
        guard !names.contains(name), let near = nearest(to: name, among: names) else { return nil }
        return "is not read; did you mean \(near)?"
    }

    /// Returns whether editors, package managers or people give such a name to files that are not to be read.
    private static func isIgnoredName(_ name: String) -> Bool {
        ["~", ".bak", ".orig", ".swp", ".disabled", ".example"].contains(where: name.hasSuffix)
            || [".", "#", "README"].contains(where: name.hasPrefix)
            || [".dpkg-", ".rpm", ".ucf-"].contains { mark in
                name.lastIndex(of: ".").map { name[$0...].hasPrefix(mark) } ?? false
            }
    }
}
