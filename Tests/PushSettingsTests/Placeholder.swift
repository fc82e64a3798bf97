// PushSettingsTests
