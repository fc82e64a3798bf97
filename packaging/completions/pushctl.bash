# Completions of pushctl for bash, made by "pushctl --generate bash".

_pushctl() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local command= options= i

    # --option=value comes as three words.
    [[ $current == = ]] && current=
    [[ $previous == = ]] && previous=${COMP_WORDS[COMP_CWORD - 2]}

    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
            --action|--address|--after|--app|--at|--baseline|--braze-id|--by|--callback|--campaign|--config|--connections|--count|--cursor|--deadline|--device|--directory|--discard|--duration|--event|--example|--exec|--expect|--external-id|--fail-under|--format|--gateway|--gateway-port|--generate|--handler|--id|--journal-directory|--junit|--kind|--ledger|--limit|--mode|--notifications|--os-version|--outcome|--payload|--pipeline|--platform|--port|--property|--provider|--query|--rate|--reset|--retry|--route|--runtime|--sdk|--seq|--since|--state|--suite|--text|--to|--transport|--unit|--until|--user|--user-unit|--where|--width)
            # Its value is the next word.
            [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
            ((i++)) ;;
            dev|inject|open|act|dismiss|session|token|device|devices|log|import|explain|run-handler|handler-units|simulate|test|report|show|deadletters|replay|campaigns|events|user|users|pending|flush|export|status|tail|top|bench|verify|doctor|backup|restore|salvage|store|gateway|erase|reload|log-level) command=${COMP_WORDS[i]}; break ;;
        esac
    done

    case $command:$previous in
        dev:--directory) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
        dev:--port) return ;;
        dev:--gateway-port) return ;;
        inject:--platform) mapfile -t COMPREPLY < <(compgen -W "android ios web" -- "$current"); return ;;
        inject:--transport) mapfile -t COMPREPLY < <(compgen -W "fcm adm hms apns web_push" -- "$current"); return ;;
        inject:--app) return ;;
        inject:--device) return ;;
        inject:--external-id) return ;;
        inject:--state) mapfile -t COMPREPLY < <(compgen -W "foreground background terminated force_quit force_stopped" -- "$current"); return ;;
        inject:--id) return ;;
        open:--payload) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
        open:--platform) mapfile -t COMPREPLY < <(compgen -W "android ios web" -- "$current"); return ;;
        open:--app) return ;;
        open:--device) return ;;
        open:--external-id) return ;;
        open:--sdk) mapfile -t COMPREPLY < <(compgen -W "ready nil delayed" -- "$current"); return ;;
        open:--at) return ;;
        open:--id) return ;;
        act:--action) return ;;
        act:--text) return ;;
        act:--payload) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
        act:--platform) mapfile -t COMPREPLY < <(compgen -W "android ios web" -- "$current"); return ;;
        act:--app) return ;;
        act:--device) return ;;
        act:--external-id) return ;;
        act:--sdk) mapfile -t COMPREPLY < <(compgen -W "ready nil delayed" -- "$current"); return ;;
        act:--at) return ;;
        act:--id) return ;;
        dismiss:--payload) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
        dismiss:--platform) mapfile -t COMPREPLY < <(compgen -W "android ios web" -- "$current"); return ;;
        dismiss:--app) return ;;
        dismiss:--device) return ;;
        dismiss:--external-id) return ;;
        dismiss:--at) return ;;
        dismiss:--id) return ;;
        session:--platform) mapfile -t COMPREPLY < <(compgen -W "android ios web" -- "$current"); return ;;
        session:--app) return ;;
        session:--device) return ;;
        session:--external-id) return ;;
        session:--at) return ;;
        session:--id) return ;;
        token:--kind) mapfile -t COMPREPLY < <(compgen -W "new registered unregistered" -- "$current"); return ;;
        token:--platform) mapfile -t COMPREPLY < <(compgen -W "android ios web" -- "$current"); return ;;
        token:--app) return ;;
        token:--device) return ;;
        token:--external-id) return ;;
        token:--at) return ;;
        token:--id) return ;;
        device:--platform) mapfile -t COMPREPLY < <(compgen -W "android ios web" -- "$current"); return ;;
        device:--app) return ;;
        device:--external-id) return ;;
        device:--state) mapfile -t COMPREPLY < <(compgen -W "foreground background terminated force_quit force_stopped" -- "$current"); return ;;
        device:--notifications) mapfile -t COMPREPLY < <(compgen -W "allowed denied" -- "$current"); return ;;
        device:--os-version) return ;;
        device:--sdk) mapfile -t COMPREPLY < <(compgen -W "ready nil delayed" -- "$current"); return ;;
        device:--id) return ;;
        devices:--platform) mapfile -t COMPREPLY < <(compgen -W "android ios web" -- "$current"); return ;;
        devices:--app) return ;;
        devices:--device) return ;;
        devices:--external-id) return ;;
        devices:--limit) return ;;
        log:--property) return ;;
        log:--suite) return ;;
        log:--braze-id) return ;;
        log:--platform) mapfile -t COMPREPLY < <(compgen -W "android ios web" -- "$current"); return ;;
        log:--app) return ;;
        log:--device) return ;;
        log:--external-id) return ;;
        log:--at) return ;;
        log:--id) return ;;
        import:--suite) return ;;
        import:--platform) mapfile -t COMPREPLY < <(compgen -W "android ios web" -- "$current"); return ;;
        import:--app) return ;;
        import:--device) return ;;
        import:--external-id) return ;;
        import:--at) return ;;
        explain:--platform) mapfile -t COMPREPLY < <(compgen -W "android ios web all" -- "$current"); return ;;
        explain:--transport) mapfile -t COMPREPLY < <(compgen -W "fcm adm hms apns web_push" -- "$current"); return ;;
        explain:--state) mapfile -t COMPREPLY < <(compgen -W "foreground background terminated force_quit force_stopped all" -- "$current"); return ;;
        explain:--app) return ;;
        explain:--device) return ;;
        explain:--notifications) mapfile -t COMPREPLY < <(compgen -W "allowed denied" -- "$current"); return ;;
        explain:--os-version) return ;;
        explain:--sdk) mapfile -t COMPREPLY < <(compgen -W "ready nil delayed" -- "$current"); return ;;
        explain:--expect) return ;;
        explain:--format) mapfile -t COMPREPLY < <(compgen -W "text json html junit github" -- "$current"); return ;;
        explain:--example) mapfile -t COMPREPLY < <(compgen -W "notification-block two-owners silent-tap no-braze-instance completion slow-handler own-message-id force-stopped own-receiver web-click list" -- "$current"); return ;;
        run-handler:--seq) return ;;
        run-handler:--callback) mapfile -t COMPREPLY < <(compgen -W "onMessageReceived onDeletedMessages onMessageSent onSendError didReceiveRemoteNotification willPresent serviceExtension push" -- "$current"); return ;;
        run-handler:--deadline) return ;;
        run-handler:--platform) mapfile -t COMPREPLY < <(compgen -W "android ios web" -- "$current"); return ;;
        run-handler:--transport) mapfile -t COMPREPLY < <(compgen -W "fcm adm hms apns web_push" -- "$current"); return ;;
        run-handler:--state) mapfile -t COMPREPLY < <(compgen -W "foreground background terminated force_quit force_stopped" -- "$current"); return ;;
        run-handler:--app) return ;;
        run-handler:--device) return ;;
        run-handler:--external-id) return ;;
        run-handler:--notifications) mapfile -t COMPREPLY < <(compgen -W "allowed denied" -- "$current"); return ;;
        run-handler:--os-version) return ;;
        run-handler:--sdk) mapfile -t COMPREPLY < <(compgen -W "ready nil delayed" -- "$current"); return ;;
        handler-units:--directory) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
        handler-units:--exec) return ;;
        simulate:--mode) mapfile -t COMPREPLY < <(compgen -W "device relay" -- "$current"); return ;;
        test:--format) mapfile -t COMPREPLY < <(compgen -W "text json junit github" -- "$current"); return ;;
        test:--junit) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
        report:--since) return ;;
        report:--until) return ;;
        report:--format) mapfile -t COMPREPLY < <(compgen -W "text json html junit csv markdown openmetrics" -- "$current"); return ;;
        report:--by) compopt -o nospace 2>/dev/null; mapfile -t COMPREPLY < <(compgen -P "${current%"${current##*,}"}" -W "handler route provider platform app callback outcome transport priority original_priority" -- "${current##*,}"); return ;;
        report:--baseline) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
        report:--fail-under) return ;;
        report:--width) return ;;
        report:--journal-directory) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
        report:--unit) return ;;
        report:--user-unit) return ;;
        deadletters:--handler) return ;;
        deadletters:--route) return ;;
        deadletters:--outcome) mapfile -t COMPREPLY < <(compgen -W "failed timed_out expired unrouted" -- "$current"); return ;;
        deadletters:--provider) return ;;
        deadletters:--app) return ;;
        deadletters:--query) return ;;
        deadletters:--since) return ;;
        deadletters:--until) return ;;
        deadletters:--limit) return ;;
        replay:--handler) return ;;
        replay:--route) return ;;
        replay:--outcome) mapfile -t COMPREPLY < <(compgen -W "failed timed_out expired unrouted" -- "$current"); return ;;
        replay:--provider) return ;;
        replay:--app) return ;;
        replay:--query) return ;;
        replay:--since) return ;;
        replay:--until) return ;;
        replay:--limit) return ;;
        campaigns:--campaign) return ;;
        campaigns:--by) mapfile -t COMPREPLY < <(compgen -W "day platform app_id campaign_id external_user_id device_id message_id button_string button_action_type" -- "$current"); return ;;
        campaigns:--since) return ;;
        campaigns:--until) return ;;
        campaigns:--format) mapfile -t COMPREPLY < <(compgen -W "text json html csv" -- "$current"); return ;;
        events:--since) return ;;
        events:--until) return ;;
        users:--where) return ;;
        users:--limit) return ;;
        pending:--suite) return ;;
        pending:--app) return ;;
        pending:--limit) return ;;
        pending:--reset) return ;;
        pending:--retry) return ;;
        pending:--discard) return ;;
        flush:--app) return ;;
        flush:--device) return ;;
        flush:--external-id) return ;;
        flush:--suite) return ;;
        export:--format) mapfile -t COMPREPLY < <(compgen -W "currents envelope" -- "$current"); return ;;
        export:--since) return ;;
        export:--event) compopt -o nospace 2>/dev/null; mapfile -t COMPREPLY < <(compgen -P "${current%"${current##*,}"}" -W "Open Received InfluencedOpen IosForeground SessionStart SessionEnd TokenStateChange Uninstall CustomEvent" -- "${current##*,}"); return ;;
        export:--cursor) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
        export:--after) return ;;
        status:--format) mapfile -t COMPREPLY < <(compgen -W "text json openmetrics prometheus" -- "$current"); return ;;
        tail:--handler) return ;;
        tail:--route) return ;;
        tail:--provider) return ;;
        tail:--platform) mapfile -t COMPREPLY < <(compgen -W "android ios web" -- "$current"); return ;;
        tail:--app) return ;;
        tail:--outcome) compopt -o nospace 2>/dev/null; mapfile -t COMPREPLY < <(compgen -P "${current%"${current##*,}"}" -W "handed_to_tracker handled failed timed_out expired unrouted duplicate shown_by_system not_woken swallowed own_receiver sdk_not_ready" -- "${current##*,}"); return ;;
        tail:--callback) mapfile -t COMPREPLY < <(compgen -W "onMessageReceived onDeletedMessages onMessageSent onSendError onNewToken onRegistered onUnregistered didReceiveRemoteNotification willPresent didReceiveResponse serviceExtension didRegister push notificationclick notificationclose none" -- "$current"); return ;;
        tail:--query) return ;;
        tail:--since) return ;;
        bench:--connections) return ;;
        bench:--pipeline) return ;;
        bench:--duration) return ;;
        bench:--count) return ;;
        bench:--rate) return ;;
        bench:--platform) mapfile -t COMPREPLY < <(compgen -W "android ios web" -- "$current"); return ;;
        bench:--transport) mapfile -t COMPREPLY < <(compgen -W "fcm adm hms apns web_push" -- "$current"); return ;;
        bench:--app) return ;;
        bench:--device) return ;;
        bench:--external-id) return ;;
        bench:--state) mapfile -t COMPREPLY < <(compgen -W "foreground background terminated force_quit force_stopped" -- "$current"); return ;;
        doctor:--gateway) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
        store:--ledger) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
        store:--to) return ;;
        gateway:--state) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
        gateway:--address) return ;;
        gateway:--directory) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
        erase:--user) return ;;
        erase:--device) return ;;
        *:--config) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
        *:--state) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
        *:--runtime) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
        *:--generate) mapfile -t COMPREPLY < <(compgen -W "man bash zsh fish conf schema accidents parts" -- "$current"); return ;;
    esac

    if [[ $current == -* ]]; then
        case $command in
            dev) options="--directory --temporary --port --gateway-port --utc --config --state --runtime --help --version" ;;
            inject) options="--platform --transport --app --device --external-id --state --id --wait --fail --json --config --runtime --help --version" ;;
            open) options="--payload --platform --app --device --external-id --sdk --at --id --wait --fail --json --config --state --runtime --help --version" ;;
            act) options="--action --text --payload --platform --app --device --external-id --sdk --at --id --wait --fail --json --config --state --runtime --help --version" ;;
            dismiss) options="--payload --platform --app --device --external-id --at --id --wait --fail --json --config --state --runtime --help --version" ;;
            session) options="--platform --app --device --external-id --at --id --json --config --state --runtime --help --version" ;;
            token) options="--kind --platform --app --device --external-id --at --id --wait --fail --json --config --state --runtime --help --version" ;;
            device) options="--platform --app --external-id --state --locked --unlocked --notifications --os-version --sdk --id --json --config --runtime --help --version" ;;
            devices) options="--platform --app --device --external-id --limit --full-tokens --json --config --state --runtime --help --version" ;;
            log) options="--property --suite --braze-id --platform --app --device --external-id --at --id --json --config --state --runtime --help --version" ;;
            import) options="--suite --platform --app --device --external-id --at --dry-run --json --config --state --runtime --help --version" ;;
            explain) options="--platform --transport --state --locked --app --device --notifications --os-version --sdk --expect --fail-on-warning --format --example --json --config --runtime --help --version" ;;
            run-handler) options="--seq --callback --deadline --platform --transport --state --locked --app --device --external-id --notifications --os-version --sdk --as-service --verbose --json --config --runtime --help --version" ;;
            handler-units) options="--directory --exec --config --state --runtime --help --version" ;;
            simulate) options="--mode --keep-going --config --state --runtime --help --version" ;;
            test) options="--real-handlers --format --junit --json --config --state --runtime --help --version" ;;
            report) options="--since --until --utc --format --json --by --baseline --fail-under --fail-on-miss --width --from-journal --journal-directory --unit --user-unit --config --state --runtime --help --version" ;;
            show) options="--full-tokens --utc --json --config --state --runtime --help --version" ;;
            deadletters) options="--handler --route --outcome --provider --app --query --since --until --limit --dry-run --full-tokens --utc --json --config --state --runtime --help --version" ;;
            replay) options="--handler --route --outcome --provider --app --query --since --until --limit --dry-run --wait --fail --full-tokens --utc --json --config --state --runtime --help --version" ;;
            campaigns) options="--campaign --by --since --until --utc --format --json --config --state --runtime --help --version" ;;
            events) options="--since --until --delays --utc --json --config --state --runtime --help --version" ;;
            user) options="--utc --json --config --state --runtime --help --version" ;;
            users) options="--where --limit --json --config --state --runtime --help --version" ;;
            pending) options="--stored --queued --unknown --rejected --suite --app --limit --reset --retry --discard --clear --yes --utc --json --config --state --runtime --help --version" ;;
            flush) options="--app --device --external-id --suite --json --config --state --runtime --help --version" ;;
            export) options="--format --since --utc --event --cursor --after --follow --full-tokens --config --state --runtime --help --version" ;;
            status) options="--all --format --utc --json --config --state --runtime --help --version" ;;
            tail) options="--handler --route --provider --platform --app --outcome --callback --query --since --utc --json --config --state --runtime --help --version" ;;
            top) options="--once --utc --config --state --runtime --help --version" ;;
            bench) options="--connections --pipeline --duration --count --rate --ids --no-ids --platform --transport --app --device --external-id --state --yes --json --config --runtime --help --version" ;;
            verify) options="--json --quiet --verbose --effective --config --state --runtime --help --version" ;;
            doctor) options="--json --quiet --client --gateway --config --state --runtime --help --version" ;;
            backup) options="--json --config --state --runtime --help --version" ;;
            restore) options="--empty --json --config --state --runtime --help --version" ;;
            salvage) options="--json --config --state --runtime --help --version" ;;
            store) options="--ledger --adopt --json --to --undo --force --config --state --runtime --help --version" ;;
            gateway) options="--state --address --with-system --hosts --directory --config --runtime --help --version" ;;
            erase) options="--user --device --dry-run --yes --json --config --state --runtime --help --version" ;;
            reload) options="--quiet --json --config --state --runtime --help --version" ;;
            log-level) options="--json --config --state --runtime --help --version" ;;
            *) options="--config --state --runtime --help --version --generate" ;;
        esac
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
    elif [[ -z $command ]]; then
        mapfile -t COMPREPLY < <(compgen -W "dev inject open act dismiss session token device devices log import explain run-handler handler-units simulate test report show deadletters replay campaigns events user users pending flush export status tail top bench verify doctor backup restore salvage store gateway erase reload log-level" -- "$current")
    else
        case $command in
            inject|import|explain|run-handler|simulate|test|bench|backup|restore|salvage) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
            session) mapfile -t COMPREPLY < <(compgen -W "start end" -- "$current") ;;
            deadletters) mapfile -t COMPREPLY < <(compgen -W "list show purge" -- "$current") ;;
            store) mapfile -t COMPREPLY < <(compgen -W "init status move drain" -- "$current") ;;
            gateway) mapfile -t COMPREPLY < <(compgen -W "ca env compose" -- "$current") ;;
            log-level) mapfile -t COMPREPLY < <(compgen -W "emerg alert crit err warning notice info debug" -- "$current") ;;
        esac
    fi
}

complete -F _pushctl pushctl
