import PushModel

/// A folder of the configuration, of which the files with one extension are read.
public enum ConfigurationFolder: String, Hashable, Sendable, CaseIterable {
    /// Rules by which a provider owns a payload.
    case provider
    /// Programs and services that handle payloads.
    case handler
    /// Which payloads go to which handler.
    case route
    /// What is sent to `/users/track`.
    case track
    /// The devices of tokens that no app registers.
    case registration

    /// Its name.
    public var name: String { "\(rawValue)s.d" }

    /// How the names of its files end.
    public var suffix: String { ".\(rawValue)" }

    /// What to say of a file in the folder that is not read, though it may be meant to be.
    ///
    /// - Returns: `nil` when it is read, and when its name says that it is not meant to be.
    public func remark(onFile name: String) -> String? {
        guard !name.hasSuffix(suffix), !Self.isLeftAside(name) else { return nil }
        let stem = name.lastIndex(of: ".").map { name[..<$0] } ?? name[...]
        return
            "is not read: the name of a file in \(self.name) ends in \(suffix); rename it to \(stem)\(suffix), or to "
            + "\(name).disabled if it is not to be read"
    }

    /// What to say of a folder beside these that is not read, though it may be meant to be; `nil`: nothing.
    public static func remark(onFolder name: String) -> String? {
        let names = allCases.map(\.name) + ["pushrouterd.conf.d"]
        guard !names.contains(name), let near = nearest(to: name, among: names) else { return nil }
        return "is not read; did you mean \(near)?"
    }

    /// Whether a name is one of those that editors, package managers and people give to what is not to be read.
    private static func isLeftAside(_ name: String) -> Bool {
        ["~", ".bak", ".orig", ".swp", ".disabled", ".example"].contains(where: name.hasSuffix)
            || [".", "#", "README"].contains(where: name.hasPrefix)
            || [".dpkg-", ".rpm", ".ucf-"].contains { mark in
                name.lastIndex(of: ".").map { name[$0...].hasPrefix(mark) } ?? false
            }
    }
}
