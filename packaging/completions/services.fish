# Completions of the daemon and its services for fish: the options that --help of the program at hand lists.

function __pushrouter_options --description "The options that the help of a program lists"
    set -l program (commandline -opc)[1]
    $program --help 2>/dev/null | string match -ragr '(?:^|[\s\[])(--[a-z][a-z-]*)' | sort -u
end

for program in pushrouterd pushrouterd-fleet pushrouter-forward pushrouter-http pushrouter-metrics pushrouter-gateway pushrouter-web
    complete -c $program -f -a '(__pushrouter_options)'
    complete -c $program -l config -x -a '(__fish_complete_directories)' -d 'Read the configuration from here only'
    complete -c $program -l state -x -a '(__fish_complete_directories)' -d 'The directory of the daemon\'s ledger'
    complete -c $program -l runtime -x -a '(__fish_complete_directories)' -d 'The directory of the daemon\'s sockets'
end
complete -c pushrouter-metrics -l textfile -r -F -d 'The file that is written for a node exporter'
complete -c pushrouter-metrics -l gateway -r -F -d 'The gateway\'s Unix socket'
complete -c pushrouter-metrics -l backups -x -a '(__fish_complete_directories)' -d 'The directory of backups with rotation'
