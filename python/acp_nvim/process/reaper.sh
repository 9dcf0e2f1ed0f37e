#!/bin/sh
# Ends the agents when their host is gone, in whatever way it went: the end of our standard input says so.
#
# Lines read: "+pgid marker" (an agent runs; pgid 0: it is about to), "-pgid marker" (it has ended).
# At end of file: TERM to what is left of the agents; what still lives after the grace gets KILL. "What is left" are the
# agents' process groups, their descendants, and every process with an agent's marker in its environment, together
# with its group. Linux needs /proc and no procps; elsewhere ps is asked.
trap '' TERM HUP INT QUIT PIPE
rounds=$1 # of 0.1 s between TERM and KILL

known=  # lines of "pgid marker"
while IFS=' ' read -r first marker; do
  group=${first#[+-]}
  rest=
  for entry in $known; do
    [ "${entry#*=}" = "$marker" ] || rest="$rest $entry"
  done
  known=$rest
  case $first in +*) known="$known $group=$marker" ;; esac
done
[ -n "$known" ] || exit 0

groups=' '
set --
for entry in $known; do
  group=${entry%%=*}
  [ "$group" -gt 1 ] && groups="$groups$group "
  set -- "$@" -e "ACP_NVIM_AGENT=${entry#*=}"
done

# Prints "pid parent group" of each living process.
table() {
  if [ -d /proc/self ]; then
    for folder in /proc/[0-9]*; do
      { read -r line <"$folder/stat"; } 2>/dev/null || continue
      pid=${folder#/proc/}
      fields=${line##*) }
      state=${fields%% *}
      fields=${fields#* }
      case $state in Z | X) continue ;; esac
      parent=${fields%% *}
      fields=${fields#* }
      echo "$pid $parent ${fields%% *}"
    done
  else
    ps -axo pid=,ppid=,pgid=,stat= | while read -r pid parent group state; do
      case $state in Z*) ;; *) echo "$pid $parent $group" ;; esac
    done
  fi
}

# Prints the ids of the processes that carry a marker.
marked() {
  if [ -d /proc/self ]; then
    for file in $(grep -lsF "$@" /proc/[0-9]*/environ); do
      file=${file#/proc/}
      echo "${file%/environ}"
    done
  else
    ps -Eww -axo pid=,command= | grep -F "$@" | grep -v -F 'grep -F' | while read -r pid _; do echo "$pid"; done
  fi
}

# Sets $groups to all groups seen so far, $alive to whether any of their processes lives.
look() {
  rows=$(table)
  pids=" $(marked "$@" | tr '\n' ' ')"
  alive=
  grown=1
  while [ -n "$grown" ]; do
    grown=
    while read -r pid parent group; do
      [ "$pid" != $$ ] || continue
      case "$pids" in *" $pid "*) mine=1 ;; *) mine= ;; esac
      if [ -z "$mine" ]; then
        case "$groups" in *" $group "*) mine=new ;; esac
        case "$pids" in *" $parent "*) mine=new ;; esac
        [ -z "$mine" ] || { pids="$pids$pid "; grown=1; }
      fi
      [ -n "$mine" ] || continue
      alive=1
      case "$groups" in *" $group "*) ;; *) groups="$groups$group "; grown=1 ;; esac
    done <<ROWS
$rows
ROWS
  done
}

signal() {
  for group in $groups; do
    [ "$group" -le 1 ] || kill -s "$1" -- "-$group" 2>/dev/null
  done
}

look "$@"
signal TERM
round=0
while [ -n "$alive" ] && [ $round -lt "$rounds" ]; do
  sleep 0.1
  round=$((round + 1))
  look "$@"
done
round=0
while [ -n "$alive" ] && [ $round -lt 20 ]; do
  signal KILL
  sleep 0.05
  round=$((round + 1))
  look "$@"
done
