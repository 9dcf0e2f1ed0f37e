#!/bin/sh
# A file without the execute bit: it cannot be started as an agent.
exit 0
