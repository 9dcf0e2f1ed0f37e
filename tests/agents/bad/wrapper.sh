#!/bin/sh
# An agent behind a shell that stays: what signals the shell does not reach the agent. wrapper.sh COMMAND...
"$@"
exit $?
