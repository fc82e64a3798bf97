// PushSimulation
