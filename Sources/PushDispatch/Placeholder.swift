// PushDispatch
