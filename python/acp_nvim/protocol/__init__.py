"""Protocols: what agents speak, translated into the events of the one session model."""
