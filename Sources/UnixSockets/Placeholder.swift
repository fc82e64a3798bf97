// UnixSockets
