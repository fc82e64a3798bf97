// HandlerProcess
