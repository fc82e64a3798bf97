// PushSettings
