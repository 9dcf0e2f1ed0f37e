"""The built-in demo agent: a real ACP v1 agent process without a language model.

``python -m acp_nvim.demo`` speaks JSON-RPC over its standard streams, as any agent does. It understands a few
plain requests (``requests.py``) and does them honestly on the files of the session's folder. It depends on
the standard library only and on nothing else of this package: as far from the client as anybody's agent.
"""
