# shellcheck shell=bash
# Functions and lists for the scripts of packaging and tests that source this file with the top of the project as the working
# directory.

# shellcheck disable=SC2034  # Used by the scripts that source this file.
# The libraries of the toolchain and the linker, and the daemon's libraries. Debian's minbase lacks these packages.
build_packages=(
    libcurl4 libncurses6 libxml2
    binutils libc6-dev libgcc-12-dev libstdc++-12-dev
    libcurl4-openssl-dev libjson-c-dev libmicrohttpd-dev libnghttp2-dev libpq-dev libsqlite3-dev libssl-dev libsystemd-dev
    pkgconf zlib1g-dev
)

say() { printf '==> %s\n' "$*"; }

fail() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# Finds the toolchain in PATH or in its usual places.
require_swift() {
    [[ -x /opt/swift/usr/bin/swift ]] && PATH=$PATH:/opt/swift/usr/bin
    command -v swift >/dev/null || fail "there is no swift in PATH or /opt/swift/usr/bin; Swift 6.2 or later builds \
this project: https://www.swift.org/install/linux/"
    say "swift: $(command -v swift)"
}

# Installs the missing packages. Needs root or sudo only if one is missing.
require_packages() {
    local missing=() package as_root=()
    if ! command -v dpkg-query >/dev/null; then
        say "not Debian: the build needs the packages with these names in Debian: $*"
        return
    fi
    for package; do
        dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
    done
    if ((${#missing[@]} == 0)); then
        say "packages: all installed ($*)"
        return
    fi
    if ((EUID != 0)); then
        local command="apt-get install --no-install-recommends ${missing[*]}"
        command -v sudo >/dev/null || fail "packages are missing; as root: $command"
        as_root=(sudo)
        # Without a terminal sudo must not ask for a password.
        [[ -t 0 ]] || as_root+=(-n)
        "${as_root[@]}" true || fail "packages are missing, and sudo does not let this user; as root: $command"
    fi
    say "packages: installing ${missing[*]}"
    "${as_root[@]}" apt-get -q update
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends \
        -o DPkg::Lock::Timeout=120 "${missing[@]}"
}

# Makes a minimal Debian 12 in a directory, from this machine's mirror if it is Debian's. Needs root and debootstrap.
debian_base() {
    local mirror
    mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null |
        sed -nE 's/^(URIs: *|deb +(\[[^]]*\] +)?)(https?:[^ ]*\/debian)\/?( .*)?$/\3/p' | sed -n 1p || true)
    PATH=$PATH:/usr/sbin:/sbin debootstrap --variant=minbase bookworm "$1" "${mirror:-http://deb.debian.org/debian}"
}
