// PushProtocol
