// PushSimulationTests
