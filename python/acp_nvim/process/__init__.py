"""Agents as processes: each in a group of its own, ended with all it started, whatever ends the host."""
