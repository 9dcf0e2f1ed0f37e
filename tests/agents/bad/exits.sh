#!/bin/sh
# An agent that cannot start: says why on stderr and ends with status 3 without reading anything.
echo 'loading configuration' >&2
echo 'FATAL: no license found in /etc/agent' >&2
exit 3
