#!/bin/sh
# Installs SoftHSM 2 and OpenSC, with which the tests of keys in PKCS#11 tokens run,
# where that can be done without asking: as root, with apt-get. Elsewhere, and if
# it fails, those tests are skipped and say so.
set -eu
missing() { ! command -v softhsm2-util >/dev/null 2>&1 || ! command -v pkcs11-tool >/dev/null 2>&1; }
missing || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
	export DEBIAN_FRONTEND=noninteractive
	# A machine may know its packages already; a fresh one knows none.
	apt-get install -y -qq --no-install-recommends softhsm2 opensc >/dev/null 2>&1 ||
		{ apt-get update -qq && apt-get install -y -qq --no-install-recommends softhsm2 opensc; } >/dev/null || true
fi
if missing; then
	echo "test-deps: SoftHSM 2 or OpenSC is missing, so tests of keys in PKCS#11 tokens will be skipped;" \
		"on Debian install them as root: apt-get install softhsm2 opensc" >&2
fi
