#!/bin/sh
# Regenerates the generated files and fails if the tree then differs from what
# was there before: generated code is committed with its generator.
set -eu
sum() { find exporter extension processor receiver \( -name 'generated_*' -o -name documentation.md -o -name README.md \) -exec cksum {} + | sort; }
before=$(sum)
go generate ./...
after=$(sum)
if [ "$before" != "$after" ]; then
	echo "generated files were stale; commit what 'make generate' wrote" >&2
	exit 1
fi
