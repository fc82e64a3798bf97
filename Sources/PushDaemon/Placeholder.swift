// PushDaemon
