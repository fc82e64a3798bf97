#compdef pushrouterd pushrouterd-fleet pushrouter-forward pushrouter-http pushrouter-metrics pushrouter-gateway pushrouter-web
# Completions of the daemon and its services for zsh: the options that --help of the program at hand lists.

_arguments -S '--config=[read the configuration from this directory only]:directory:_directories' \
    '--state=[the directory of the ledger]:directory:_directories' \
    '--runtime=[the directory of the sockets]:directory:_directories' --
