extension Command {
    /// Every command, in the order of the help.
    static let all = [
        dev, inject, open, act, dismiss, session, token, device, devices, log, `import`, explain, runHandler,
        handlerUnits, simulate, test, report, show, deadLetters, replay, campaigns, events, user, users, pending, flush,
        export, status, tail, top, bench, verify, doctor, backup, restore, salvage, store, gateway, erase, reload,
        logLevel,
    ]
}
