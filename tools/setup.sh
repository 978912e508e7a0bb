#!/bin/sh
# Installs what a target of the Makefile needs and the machine lacks.
# Usage: tools/setup.sh [postgres] [cc] [node] [curl]
# It asks nothing, changes nothing that is already there, and says in one line
# what to do when it cannot install something.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)

say() { printf 'setup: %s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

as_root() {
	if [ "$(id -u)" = 0 ]; then "$@"; elif have sudo; then sudo "$@"; else
		say "cannot run '$*': not root, and sudo is not installed"
		return 1
	fi
}

# install APT_PACKAGES BREW_PACKAGES HINT
install() {
	if have apt-get; then
		say "installing $1 with apt-get"
		as_root apt-get update -qq >&2 || say "apt-get update failed; trying with the lists at hand"
		# shellcheck disable=SC2086 # the list is meant to be split
		as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $1 >&2
	elif have brew; then
		say "installing $2 with brew"
		# shellcheck disable=SC2086
		brew install -q $2 >&2
	else
		say "$3"
		exit 1
	fi
}

postgres() {
	if have initdb || ls /usr/lib/postgresql/*/bin/initdb /usr/pgsql-*/bin/initdb \
		/opt/homebrew/opt/postgresql@*/bin/initdb /usr/local/opt/postgresql@*/bin/initdb \
		/Applications/Postgres.app/Contents/Versions/*/bin/initdb >/dev/null 2>&1; then
		return
	fi
	# The distribution's own cluster is of no use here: a private one is started.
	if have apt-get && [ ! -e /etc/postgresql-common/createcluster.conf ]; then
		as_root mkdir -p /etc/postgresql-common
		echo 'create_main_cluster = false' | as_root tee /etc/postgresql-common/createcluster.conf >/dev/null
	fi
	install postgresql postgresql@17 "Postgres 15 or later is missing: install it with your package manager (apt-get install postgresql, brew install postgresql@17)"
}

cc() {
	have cc || have gcc || install "gcc libc6-dev" gcc "a C compiler is missing: the race detector needs one (apt-get install gcc libc6-dev)"
}

# node_fits is true for Node.js 20.19 or later, which the dashboard's build needs.
node_fits() {
	have node && have npm &&
		node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)'
}

# A Node of the distribution may be too old for the clients under test; then
# npm brings a newer one into .tools, which the Makefile puts on its PATH.
nodejs() {
	PATH="$root/.tools/node_modules/.bin:$PATH"
	node_fits && return
	have npm || install "nodejs npm" node "Node.js 20.19 or later and npm are missing: install them"
	node_fits && return
	say "installing Node.js 20 into .tools with npm"
	npm install --prefix "$root/.tools" --no-save --no-audit --no-fund --loglevel=error node@20 >&2
}

http() { have curl || install curl curl "curl is missing: install it"; }

have go || { say "Go 1.26 or later is missing: see https://go.dev/doc/install"; exit 1; }
for part in "$@"; do
	case $part in
	postgres) postgres ;;
	cc) cc ;;
	node) nodejs ;;
	curl) http ;;
	*) say "unknown part '$part'"; exit 2 ;;
	esac
done
