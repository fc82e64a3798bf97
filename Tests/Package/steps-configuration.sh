# shellcheck shell=bash disable=SC2154  # inside.sh has the variables and functions.
# The steps of a bad configuration, for steps.sh behind its step "reload with an error": handler and route of "program"
# are in force.

has_mistake() { pushctl status --json | grep -q '"configuration_problem":"[^"]*10-wrong.route'; }
handles() { pushctl inject --app program --wait - <<<'{"data":{}}' | grep -q handled; }
# serves TEXT: service and sockets are active, and a push is handled by the last good configuration.
serves() {
    holds "$1: service and sockets are active" systemctl is-active "$service" "${sockets[@]}"
    holds "$1: a push is handled by the last good configuration" handles
    holds "$1: status names the mistake" has_mistake
}
mistake() { printf '[Match]\n[Route]\nHandler=nobody\n' >/etc/pushrouterd/routes.d/10-wrong.route; }

steps_of_configuration() {
    local pid
    step "restart with a bad configuration: the last good one goes on, and no socket closes"
    mistake
    denies "verify names the mistake" pushctl verify
    holds "it restarts" systemctl restart "$service"
    serves "after the restart"
    [[ $(property NRestarts) == 0 ]] || fail "the service manager started it $(property NRestarts) times more"
    holds "the alert can fire" \
        bash -c 'pushctl status --format prometheus | grep "^pushrouterd_configuration_problem 1"'

    step "socket activation with a bad configuration: a producer's request starts the service, and no socket closes"
    holds "it stops" systemctl stop "$service"
    holds "a request is accepted" inject
    serves "after the request"

    step "upgrade with a refused reload: no outage, and the package names the mistake"
    rm /etc/pushrouterd/routes.d/10-wrong.route
    holds "a right configuration is in force" systemctl reload "$service"
    mistake
    denies "a reload is refused" systemctl reload "$service"
    pid=$(property MainPID)
    holds "the package is unpacked and configured again" dpkg -i "$packages"/old/*.deb
    grep -q '10-wrong.route' /tmp/holds.log || { cat /tmp/holds.log; fail "the package does not name the mistake"; }
    until_so "it is a new process" is_new_process "$pid"
    serves "after the upgrade"
    rm /etc/pushrouterd/routes.d/10-wrong.route
    holds "a right configuration is taken again" systemctl reload "$service"
    denies "the mistake is told no longer" has_mistake
}
