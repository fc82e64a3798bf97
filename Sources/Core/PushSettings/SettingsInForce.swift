public import PushModel

extension ConfigurationSources {
    /// The settings of one file, or of a main file with its drop-ins.
    public struct FileInForce: Sendable {
        /// `pushrouterd.conf`, or the path of the file.
        public let name: String
        /// Its settings in the order of their declaration.
        public let settings: [SettingInForce]

        /// Reads a main file and its drop-ins.
        ///
        /// - Parameters:
        ///   - name: the name of the main file.
        ///   - files: the files in their order.
        ///   - schema: their keys.
        public init<Target>(_ name: String, _ files: [ConfigurationFile], _ schema: Schema<Target>) {
            self.name = name
            settings = schema.settingsInForce(files.map { ($0.path, $0.bytes) }, hasUnset: true)
        }

        fileprivate init<Target>(
            _ file: ConfigurationFile, _ schema: Schema<Target>, applies: (Key<Target>) -> Bool = { _ in true }
        ) {
            name = file.path
            settings = schema.settingsInForce([(file.path, file.bytes)], hasUnset: false, applies: applies)
        }
    }

    /// Returns the settings in force, file by file in the order of their reading.
    ///
    /// - Parameter hasProviders: whether the providers are among them.
    public func settingsInForce(hasProviders: Bool) -> [FileInForce] {
        [FileInForce("pushrouterd.conf", main, Schema.main)]
            + (hasProviders ? providersInForce.map { FileInForce($0, Schema.provider) } : [])
            + handlers.inOrder.map(handlerInForce) + routes.inOrder.map { FileInForce($0, Schema.route) }
            + tracks.inOrder.map { FileInForce($0, Schema.track) }
            + registrations.inOrder.map { FileInForce($0, Schema.registration) }
    }

    /// The settings of a handler: those that have a meaning for its `Type=`.
    private func handlerInForce(_ file: ConfigurationFile) -> FileInForce {
        let type = FileInForce(file, Schema.handler) { $0.name == "Type" }.settings.first?.value
        return FileInForce(file, Schema.handler) { key in
            key.kinds.isEmpty || key.kinds.contains { "\($0)" == type }
        }
    }
}
