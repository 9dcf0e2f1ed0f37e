"""Tools of the editor for agents that are reached over HTTP (ports.ClientTools; AAP-25 to AAP-30)."""

from .box import ToolBox

__all__ = ("ToolBox",)
