#!/bin/sh
# An agent that answers nothing, ignores TERM, INT, HUP and the end of its input, and has a child that does so too.
trap '' TERM INT HUP
sleep 600 &
while :; do
  sleep 600
done
