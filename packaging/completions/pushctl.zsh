#compdef pushctl
# Completions of pushctl for zsh, made by "pushctl --generate zsh".

local command word
local -i is_value
local -a known
known=(
    'dev:run a daemon, a gateway and the page below one directory'
    'inject:send push payloads to the daemon'
    'open:report that a notification was opened'
    'act:report that a button of a notification was pressed'
    'dismiss:report that a notification was dismissed'
    'session:report that a session of the app began or ended'
    'token:report a new push token, or that a token became invalid'
    'device:set the state of an app and its device'
    'devices:list the devices that the daemon knows'
    'log:log a custom event or attributes'
    'import:log the custom data that an app stored with Braze'\''s samples'
    'explain:show the decision for a payload, and the reasons'
    'run-handler:run a real handler on payloads, without a daemon'
    'handler-units:print systemd units that run a handler on its own'
    'simulate:run a scenario under virtual time, without a daemon'
    'test:run scenarios with expectations, without a daemon'
    'report:show the share of invocations that kept their deadline'
    'show:show everything about one request'
    'deadletters:list, show or drop the dead letters of relay mode'
    'replay:accept the dead letters of relay mode again'
    'campaigns:show opens, clicks and recipients of Braze'\''s campaigns'
    'events:count the analytics events by name and day'
    'user:show the devices, sessions and attributes of one user'
    'users:find users by their attributes'
    'pending:list custom data that waits or was rejected, and resolve it'
    'flush:flush stored custom data as if a session of the app started'
    'export:write the analytics events, one a line'
    'status:show the state of the running daemon'
    'tail:print outcomes and events as they come'
    'top:watch handlers, rates and missed deadlines on a live screen'
    'bench:send many requests, and measure their rate and latency'
    'verify:check the configuration'
    'doctor:check the installation, and print a remedy for each problem'
    'backup:copy the ledger into a file'
    'restore:put a backup in the place of the ledger'
    'salvage:save the readable rows of a damaged ledger'
    'store:set up the database of a pair, and show or change the leader'
    'gateway:print certificates and settings for clients of the gateway'
    'erase:delete the stored data of one person'
    'reload:have the daemon read its configuration again'
    'log-level:show or set which entries the daemon writes to its journal'
)

for word in "${(@)words[2,CURRENT-1]}"; do
    if (( is_value )); then
        is_value=0
        continue
    fi
    case $word in
    --action|--address|--after|--app|--at|--baseline|--braze-id|--by|--callback|--campaign|--config|--connections|--count|--cursor|--deadline|--device|--directory|--discard|--duration|--event|--example|--exec|--expect|--external-id|--fail-under|--format|--gateway|--gateway-port|--generate|--handler|--id|--journal-directory|--junit|--kind|--ledger|--limit|--mode|--notifications|--os-version|--outcome|--payload|--pipeline|--platform|--port|--property|--provider|--query|--rate|--reset|--retry|--route|--runtime|--sdk|--seq|--since|--state|--suite|--text|--to|--transport|--unit|--until|--user|--user-unit|--where|--width) is_value=1 ;;
dev|inject|open|act|dismiss|session|token|device|devices|log|import|explain|run-handler|handler-units|simulate|test|report|show|deadletters|replay|campaigns|events|user|users|pending|flush|export|status|tail|top|bench|verify|doctor|backup|restore|salvage|store|gateway|erase|reload|log-level) command=$word; break ;;
    esac
done

case $command in
dev)
    _arguments -S \
        '*--directory=[keep everything below this directory (./.pushrouter)]:directory:_directories' \
        '*--temporary[use a new directory, and remove it at the end]' \
        '*--port=[the page'\''s port: this one alone; 0: any (18080 and the next 20)]:port: ' \
        '*--gateway-port=[the gateway'\''s port: this one alone; 0: any (18443 and the next 20)]:gateway-port: ' \
        '*--utc[show times in UTC, and read dates as UTC]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*: : '
    ;;
inject)
    _arguments -S \
        '*--platform=[the platform that the payload is for]:platform:(android ios web)' \
        '*--transport=[the service that carries the payload (by default the platform'\''s own)]:transport:(fcm adm hms apns web_push)' \
        '*--app=[the package name or bundle id of the app]:app: ' \
        '*--device=[the device; Android runs its deliveries one after the other]:device: ' \
        '*--external-id=[the user]:external-id: ' \
        '*--state=[the state of the app (background)]:state:(foreground background terminated force_quit force_stopped)' \
        '*--id=[the request'\''s id: the daemon accepts a request once under one id]:id: ' \
        '*--wait[wait until every outcome is known, and print it]' \
        '*--fail[with --wait: exit with 1 when an outcome is neither handled nor handed_to_tracker]' \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*:file:_files'
    ;;
open)
    _arguments -S \
        '*--payload=[name the notification by its payload instead of MESSAGE]:payload:_files' \
        '*--platform=[the platform that the payload is for]:platform:(android ios web)' \
        '*--app=[the package name or bundle id of the app]:app: ' \
        '*--device=[the device; Android runs its deliveries one after the other]:device: ' \
        '*--external-id=[the user]:external-id: ' \
        '*--sdk=[the app'\''s Braze instance when the callback runs, on iOS (ready)]:sdk:(ready nil delayed)' \
        '*--at=[when it happened: RFC 3339, or Unix milliseconds (now)]:at: ' \
        '*--id=[the request'\''s id: the daemon accepts a request once under one id]:id: ' \
        '*--wait[wait until every outcome is known, and print it]' \
        '*--fail[with --wait: exit with 1 when an outcome is neither handled nor handed_to_tracker]' \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*: : '
    ;;
act)
    _arguments -S \
        '*--action=[the id of the button that was pressed]:action: ' \
        '*--text=[the text that the user typed into the button'\''s text field]:text: ' \
        '*--payload=[name the notification by its payload instead of MESSAGE]:payload:_files' \
        '*--platform=[the platform that the payload is for]:platform:(android ios web)' \
        '*--app=[the package name or bundle id of the app]:app: ' \
        '*--device=[the device; Android runs its deliveries one after the other]:device: ' \
        '*--external-id=[the user]:external-id: ' \
        '*--sdk=[the app'\''s Braze instance when the callback runs, on iOS (ready)]:sdk:(ready nil delayed)' \
        '*--at=[when it happened: RFC 3339, or Unix milliseconds (now)]:at: ' \
        '*--id=[the request'\''s id: the daemon accepts a request once under one id]:id: ' \
        '*--wait[wait until every outcome is known, and print it]' \
        '*--fail[with --wait: exit with 1 when an outcome is neither handled nor handed_to_tracker]' \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*: : '
    ;;
dismiss)
    _arguments -S \
        '*--payload=[name the notification by its payload instead of MESSAGE]:payload:_files' \
        '*--platform=[the platform that the payload is for]:platform:(android ios web)' \
        '*--app=[the package name or bundle id of the app]:app: ' \
        '*--device=[the device; Android runs its deliveries one after the other]:device: ' \
        '*--external-id=[the user]:external-id: ' \
        '*--at=[when it happened: RFC 3339, or Unix milliseconds (now)]:at: ' \
        '*--id=[the request'\''s id: the daemon accepts a request once under one id]:id: ' \
        '*--wait[wait until every outcome is known, and print it]' \
        '*--fail[with --wait: exit with 1 when an outcome is neither handled nor handed_to_tracker]' \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*: : '
    ;;
session)
    _arguments -S \
        '*--platform=[the platform that the payload is for]:platform:(android ios web)' \
        '*--app=[the package name or bundle id of the app]:app: ' \
        '*--device=[the device; Android runs its deliveries one after the other]:device: ' \
        '*--external-id=[the user]:external-id: ' \
        '*--at=[when it happened: RFC 3339, or Unix milliseconds (now)]:at: ' \
        '*--id=[the request'\''s id: the daemon accepts a request once under one id]:id: ' \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*:word:(start end)'
    ;;
token)
    _arguments -S \
        '*--kind=[the change of the token (new)]:kind:(new registered unregistered)' \
        '*--platform=[the platform that the payload is for]:platform:(android ios web)' \
        '*--app=[the package name or bundle id of the app]:app: ' \
        '*--device=[the device; Android runs its deliveries one after the other]:device: ' \
        '*--external-id=[the user]:external-id: ' \
        '*--at=[when it happened: RFC 3339, or Unix milliseconds (now)]:at: ' \
        '*--id=[the request'\''s id: the daemon accepts a request once under one id]:id: ' \
        '*--wait[wait until every outcome is known, and print it]' \
        '*--fail[with --wait: exit with 1 when an outcome is neither handled nor handed_to_tracker]' \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*: : '
    ;;
device)
    _arguments -S \
        '*--platform=[the platform that the payload is for]:platform:(android ios web)' \
        '*--app=[the package name or bundle id of the app]:app: ' \
        '*--external-id=[the user]:external-id: ' \
        '*--state=[the state of the app (background)]:state:(foreground background terminated force_quit force_stopped)' \
        '*--locked[the screen is locked]' \
        '*--unlocked[the screen is unlocked]' \
        '*--notifications=[whether the user allows notifications of the app (allowed)]:notifications:(allowed denied)' \
        '*--os-version=[the version of the operating system]:os-version: ' \
        '*--sdk=[the app'\''s Braze instance when the callback runs, on iOS (ready)]:sdk:(ready nil delayed)' \
        '*--id=[the request'\''s id: the daemon accepts a request once under one id]:id: ' \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*: : '
    ;;
devices)
    _arguments -S \
        '*--platform=[the platform that the payload is for]:platform:(android ios web)' \
        '*--app=[the package name or bundle id of the app]:app: ' \
        '*--device=[the device; Android runs its deliveries one after the other]:device: ' \
        '*--external-id=[the user]:external-id: ' \
        '*--limit=[show at most this many (text: 100, JSON: all)]:limit: ' \
        '*--full-tokens[show push tokens whole; otherwise their first characters]' \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*: : '
    ;;
log)
    _arguments -S \
        '*--property=[a property of the event; also KEY:=JSON, and repeated]:property: ' \
        '*--suite=[the app group that stores the entry; standard is the app'\''s own]:suite: ' \
        '*--braze-id=[the profile'\''s id at Braze; an entry without a suite is sent there at once]:braze-id: ' \
        '*--platform=[the platform that the payload is for]:platform:(android ios web)' \
        '*--app=[the package name or bundle id of the app]:app: ' \
        '*--device=[the device; Android runs its deliveries one after the other]:device: ' \
        '*--external-id=[the user]:external-id: ' \
        '*--at=[when it happened: RFC 3339, or Unix milliseconds (now)]:at: ' \
        '*--id=[the request'\''s id: the daemon accepts a request once under one id]:id: ' \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*: : '
    ;;
import)
    _arguments -S \
        '*--suite=[the app group that stores the entry; standard is the app'\''s own]:suite: ' \
        '*--platform=[the platform that the payload is for]:platform:(android ios web)' \
        '*--app=[the package name or bundle id of the app]:app: ' \
        '*--device=[the device; Android runs its deliveries one after the other]:device: ' \
        '*--external-id=[the user]:external-id: ' \
        '*--at=[when it happened: RFC 3339, or Unix milliseconds (now)]:at: ' \
        '*--dry-run[print the requests and send nothing]' \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*:file:_files'
    ;;
explain)
    _arguments -S \
        '*--platform=[the platform that the payload is for, or all, side by side]:platform:(android ios web all)' \
        '*--transport=[the service that carries the payload (by default the platform'\''s own)]:transport:(fcm adm hms apns web_push)' \
        '*--state=[the state of the app (background), or all, side by side]:state:(foreground background terminated force_quit force_stopped all)' \
        '*--locked[the screen is locked]' \
        '*--app=[the package name or bundle id of the app]:app: ' \
        '*--device=[the device; Android runs its deliveries one after the other]:device: ' \
        '*--notifications=[whether the user allows notifications of the app (allowed)]:notifications:(allowed denied)' \
        '*--os-version=[the version of the operating system]:os-version: ' \
        '*--sdk=[the app'\''s Braze instance when the callback runs, on iOS (ready)]:sdk:(ready nil delayed)' \
        '*--expect=[exit with 1 when this does not hold for a payload; * matches any text, none stands for no value; given several times, all must hold; KEY is provider, platform, outcome, callback, handler, route, campaign, kind, confidence, reason, warning; outcome is "handler NAME" where a handler decides it]:expect: ' \
        '*--fail-on-warning[exit with 1 when a payload has a warning]' \
        '*--format=[the format of the output (text)]:format:(text json html junit github)' \
        '*--example=[instead of FILE: an accident of the catalogue, its outcome and the fix; list prints the names]:example:(notification-block two-owners silent-tap no-braze-instance completion slow-handler own-message-id force-stopped own-receiver web-click list)' \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*:file:_files'
    ;;
run-handler)
    _arguments -S \
        '*--seq=[the payload and the facts of request N of the ledger, instead of a file]:seq: ' \
        '*--callback=[the callback that the handler is run for (the first that the platform would run)]:callback:(onMessageReceived onDeletedMessages onMessageSent onSendError didReceiveRemoteNotification willPresent serviceExtension push)' \
        '*--deadline=[the deadline of the handler, such as 500ms or 1min (as configured)]:deadline: ' \
        '*--platform=[the platform that the payload is for]:platform:(android ios web)' \
        '*--transport=[the service that carries the payload (by default the platform'\''s own)]:transport:(fcm adm hms apns web_push)' \
        '*--state=[the state of the app (background)]:state:(foreground background terminated force_quit force_stopped)' \
        '*--locked[the screen is locked]' \
        '*--app=[the package name or bundle id of the app]:app: ' \
        '*--device=[the device; Android runs its deliveries one after the other]:device: ' \
        '*--external-id=[the user]:external-id: ' \
        '*--notifications=[whether the user allows notifications of the app (allowed)]:notifications:(allowed denied)' \
        '*--os-version=[the version of the operating system]:os-version: ' \
        '*--sdk=[the app'\''s Braze instance when the callback runs, on iOS (ready)]:sdk:(ready nil delayed)' \
        '*--as-service[run it as the service'\''s user and with its sandbox, by systemd-run (as root)]' \
        '*--verbose[show the input of the handler with a line for each value]' \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*:file:_files'
    ;;
handler-units)
    _arguments -S \
        '*--directory=[write the files into this directory]:directory:_directories' \
        '*--exec=[the program of a socket handler, with its arguments]:exec: ' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*: : '
    ;;
simulate)
    _arguments -S \
        '*--mode=[act as the device, or as a relay in production (as configured)]:mode:(device relay)' \
        '*--keep-going[go on after a line with an error]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*:file:_files'
    ;;
test)
    _arguments -S \
        '*--real-handlers[run the real handlers of the configuration, by the wall clock]' \
        '*--format=[the format of the output (text; on GitHub github: text and annotations)]:format:(text json junit github)' \
        '*--junit=[write a test report for CI into this file]:junit:_files' \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*:file:_files'
    ;;
report)
    _arguments -S \
        '*--since=[only requests accepted at this time or later]:since: ' \
        '*--until=[only requests accepted before this time]:until: ' \
        '*--utc[show times in UTC, and read dates as UTC]' \
        '*--format=[the format of the output (text)]:format:(text json html junit csv markdown openmetrics)' \
        '*--json[print JSON, for programs]' \
        '*--by=[also show the figures by a field, or by two fields that are crossed; can be repeated]:by:_values -s , by handler route provider platform app callback outcome transport priority original_priority' \
        '*--baseline=[compare with an earlier report in JSON, and name the figures that got worse beyond chance]:baseline:_files' \
        '*--fail-under=[exit with 1 when the compliance is below this, such as 99.9]:fail-under: ' \
        '*--fail-on-miss[exit with 1 when an invocation missed its deadline]' \
        '*--width=[the width of the text (COLUMNS, or the terminal'\''s)]:width: ' \
        '*--from-journal[make the report from the journal alone, without ledger and daemon]' \
        '*--journal-directory=[with --from-journal: read the journal files of this directory]:journal-directory:_directories' \
        '*--unit=[with --from-journal: the daemon'\''s unit (pushrouterd.service)]:unit: ' \
        '*--user-unit=[with --from-journal: the daemon'\''s unit of this user'\''s service manager]:user-unit: ' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*: : '
    ;;
show)
    _arguments -S \
        '*--full-tokens[show push tokens whole; otherwise their first characters]' \
        '*--utc[show times in UTC, and read dates as UTC]' \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*: : '
    ;;
deadletters)
    _arguments -S \
        '*--handler=[only dead letters whose last handler is NAME]:handler: ' \
        '*--route=[only dead letters whose last route is NAME]:route: ' \
        '*--outcome=[only dead letters with this outcome]:outcome:(failed timed_out expired unrouted)' \
        '*--provider=[only payloads of this provider]:provider: ' \
        '*--app=[only dead letters for this app]:app: ' \
        '*--query=[only matches of this query; pushrouter-web(8) explains its language]:query: ' \
        '*--since=[only requests accepted at this time or later]:since: ' \
        '*--until=[only requests accepted before this time]:until: ' \
        '*--limit=[at most this many requests, the newest (100); all is for purge and replay]:limit: ' \
        '*--dry-run[print the chosen dead letters and change nothing]' \
        '*--full-tokens[show push tokens whole; otherwise their first characters]' \
        '*--utc[show times in UTC, and read dates as UTC]' \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*:word:(list show purge)'
    ;;
replay)
    _arguments -S \
        '*--handler=[only dead letters whose last handler is NAME]:handler: ' \
        '*--route=[only dead letters whose last route is NAME]:route: ' \
        '*--outcome=[only dead letters with this outcome]:outcome:(failed timed_out expired unrouted)' \
        '*--provider=[only payloads of this provider]:provider: ' \
        '*--app=[only dead letters for this app]:app: ' \
        '*--query=[only matches of this query; pushrouter-web(8) explains its language]:query: ' \
        '*--since=[only requests accepted at this time or later]:since: ' \
        '*--until=[only requests accepted before this time]:until: ' \
        '*--limit=[at most this many requests, the newest (100); all is for purge and replay]:limit: ' \
        '*--dry-run[print the chosen dead letters and change nothing]' \
        '*--wait[wait until every outcome is known, and print it]' \
        '*--fail[with --wait: exit with 1 when an outcome is neither handled nor handed_to_tracker]' \
        '*--full-tokens[show push tokens whole; otherwise their first characters]' \
        '*--utc[show times in UTC, and read dates as UTC]' \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*: : '
    ;;
campaigns)
    _arguments -S \
        '*--campaign=[only this campaign]:campaign: ' \
        '*--by=[also show the figures by a field of the events]:by:(day platform app_id campaign_id external_user_id device_id message_id button_string button_action_type)' \
        '*--since=[only events at this time or later]:since: ' \
        '*--until=[only events before this time]:until: ' \
        '*--utc[show times in UTC, and read dates as UTC]' \
        '*--format=[the format of the output (text)]:format:(text json html csv)' \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*: : '
    ;;
events)
    _arguments -S \
        '*--since=[only events at this time or later]:since: ' \
        '*--until=[only events before this time]:until: ' \
        '*--delays[also show the time for which custom events waited until they were flushed or sent]' \
        '*--utc[show times in UTC, and read dates as UTC]' \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*: : '
    ;;
user)
    _arguments -S \
        '*--utc[show times in UTC, and read dates as UTC]' \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*: : '
    ;;
users)
    _arguments -S \
        '*--where=[a condition on an attribute; given several times, all must hold]:where: ' \
        '*--limit=[show at most this many (text: 100, JSON: all)]:limit: ' \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*: : '
    ;;
pending)
    _arguments -S \
        '*--stored[only entries in suites, which wait for a session of the app (pending)]' \
        '*--queued[only entries to be sent, or being sent (queued, claimed)]' \
        '*--unknown[only entries that may have been sent (unknown)]' \
        '*--rejected[only rejected entries, with the reasons]' \
        '*--suite=[only entries of this suite]:suite: ' \
        '*--app=[only entries of this app]:app: ' \
        '*--limit=[show at most this many (text: 100, JSON: all)]:limit: ' \
        '*--reset=[delete all entries that are stored in this suite]:reset: ' \
        '*--retry=[send these unknown entries again]:retry: ' \
        '*--discard=[never send these entries; all: the unknown ones]:discard: ' \
        '*--clear[discard the entries that the filters choose: pending, queued and unknown ones; asks first]' \
        '*--yes[with --clear: do not ask]' \
        '*--utc[show times in UTC, and read dates as UTC]' \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*: : '
    ;;
flush)
    _arguments -S \
        '*--app=[the app whose session starts]:app: ' \
        '*--device=[the device (without it: only entries that name no device)]:device: ' \
        '*--external-id=[the user (the device'\''s last known)]:external-id: ' \
        '*--suite=[only entries of this suite]:suite: ' \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*: : '
    ;;
export)
    _arguments -S \
        '*--format=[the form of a line (currents)]:format:(currents envelope)' \
        '*--since=[only events at this time or later]:since: ' \
        '*--utc[show times in UTC, and read dates as UTC]' \
        '*--event=[only these events, such as Open or Open,InfluencedOpen]:event:_values -s , event Open Received InfluencedOpen IosForeground SessionStart SessionEnd TokenStateChange Uninstall CustomEvent' \
        '*--cursor=[begin at the cursor in this file, and write the new cursor to it]:cursor:_files' \
        '*--after=[begin after the line with this cursor; each line shows its own]:after: ' \
        '*--follow[wait for new events, until SIGINT, SIGTERM or the reader ends it]' \
        '*--full-tokens[show push tokens whole; otherwise their first characters]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*: : '
    ;;
status)
    _arguments -S \
        '*--all[print every field, a line each]' \
        '*--format=[the format of the output (text)]:format:(text json openmetrics prometheus)' \
        '*--utc[show times in UTC, and read dates as UTC]' \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*: : '
    ;;
tail)
    _arguments -S \
        '*--handler=[only outcomes of this handler]:handler: ' \
        '*--route=[only outcomes of this route]:route: ' \
        '*--provider=[only outcomes of this provider'\''s payloads]:provider: ' \
        '*--platform=[only outcomes and events of this platform]:platform:(android ios web)' \
        '*--app=[only outcomes and events of this app]:app: ' \
        '*--outcome=[only invocations with these outcomes]:outcome:_values -s , outcome handed_to_tracker handled failed timed_out expired unrouted duplicate shown_by_system not_woken swallowed own_receiver sdk_not_ready' \
        '*--callback=[only outcomes of this callback]:callback:(onMessageReceived onDeletedMessages onMessageSent onSendError onNewToken onRegistered onUnregistered didReceiveRemoteNotification willPresent didReceiveResponse serviceExtension didRegister push notificationclick notificationclose none)' \
        '*--query=[only matches of this query; pushrouter-web(8) explains its language]:query: ' \
        '*--since=[begin with the requests and events of this time (without it: with new ones)]:since: ' \
        '*--utc[show times in UTC, and read dates as UTC]' \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*: : '
    ;;
top)
    _arguments -S \
        '*--once[print one picture and exit]' \
        '*--utc[show times in UTC, and read dates as UTC]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*: : '
    ;;
bench)
    _arguments -S \
        '*--connections=[the number of connections, up to 1000 (1)]:connections: ' \
        '*--pipeline=[the number of requests on a connection that may wait for replies, up to 10000 (16)]:pipeline: ' \
        '*--duration=[the time for which requests are sent, such as 30s or 5min (10s)]:duration: ' \
        '*--count=[the highest number of requests (limited by the duration only)]:count: ' \
        '*--rate=[send this many requests a second, even if the daemon does not keep up]:rate: ' \
        '*--ids[give each request an id of its own (the default)]' \
        '*--no-ids[send requests without ids]' \
        '*--platform=[the platform that the payload is for]:platform:(android ios web)' \
        '*--transport=[the service that carries the payload (by default the platform'\''s own)]:transport:(fcm adm hms apns web_push)' \
        '*--app=[the package name or bundle id of the app]:app: ' \
        '*--device=[the device; Android runs its deliveries one after the other]:device: ' \
        '*--external-id=[the user]:external-id: ' \
        '*--state=[the state of the app (background)]:state:(foreground background terminated force_quit force_stopped)' \
        '*--yes[do not ask]' \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*:file:_files'
    ;;
verify)
    _arguments -S \
        '*--json[print JSON, for programs]' \
        '*--quiet[print errors and warnings only]' \
        '*--verbose[list the providers, too]' \
        '*--effective[print every setting in force, and where it comes from]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*: : '
    ;;
doctor)
    _arguments -S \
        '*--json[print JSON, for programs]' \
        '*--quiet[print errors and warnings only]' \
        '*--client[check why a client of FCM or APNs does not reach the gateway]' \
        '*--gateway=[with --client: the Unix socket of the gateway (/run/pushrouter-gateway.sock)]:gateway:_files' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*: : '
    ;;
backup)
    _arguments -S \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*:file:_files'
    ;;
restore)
    _arguments -S \
        '*--empty[begin with an empty ledger, instead of FILE]' \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*:file:_files'
    ;;
salvage)
    _arguments -S \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*:file:_files'
    ;;
store)
    _arguments -S \
        '*--ledger=[init: the state directory of the machine whose ledger the pair takes over]:ledger:_directories' \
        '*--adopt[init: make a new fleet of a database that was restored or cloned]' \
        '*--json[print JSON, for programs]' \
        '*--to=[with move: the machine that leads next (the one with the smallest lag)]:to: ' \
        '*--undo[with drain: the machine may lead again]' \
        '*--force[with drain: drain even if no other machine can lead]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*:word:(init status move drain)'
    ;;
gateway)
    _arguments -S \
        '*--state=[the directory of the gateway'\''s authority (/var/lib/pushrouter-gateway)]:state:_directories' \
        '*--address=[env: the address and port of the gateway (127.0.0.1:18443)]:address: ' \
        '*--with-system[ca: the system'\''s authorities too]' \
        '*--hosts[env: the push hosts are names of the gateway'\''s machine]' \
        '*--directory=[env: write bundle.pem into this directory (.)]:directory:_directories' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*:word:(ca env compose)'
    ;;
erase)
    _arguments -S \
        '*--user=[the user; also rows without a user on the user'\''s devices]:user: ' \
        '*--device=[every user of this device]:device: ' \
        '*--dry-run[print the number of rows that would be erased, and erase nothing]' \
        '*--yes[do not ask]' \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*: : '
    ;;
reload)
    _arguments -S \
        '*--quiet[print nothing: the exit status is the answer]' \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*: : '
    ;;
log-level)
    _arguments -S \
        '*--json[print JSON, for programs]' \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '1: : ' \
        '*:word:(emerg alert crit err warning notice info debug)'
    ;;
*)
    _arguments -S \
        '*--config=[read the configuration from this directory only]:config:_directories' \
        '*--state=[the directory of the daemon'\''s ledger]:state:_directories' \
        '*--runtime=[the directory of the daemon'\''s sockets]:runtime:_directories' \
        '*--help[show this help and exit; -h does the same]' \
        '*--version[print the version and exit]' \
        '*--generate=[print the man page, completions for a shell, the shipped pushrouterd.conf, the schema of report --json, the catalogue of accidents, or the parts of other man pages that packaging/generate.sh writes; after a command, man is the page of that command]:generate:(man bash zsh fish conf schema accidents parts)' \
        '1:command:{ _describe command known }'
    ;;
esac
