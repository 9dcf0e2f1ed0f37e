"""Work with coding agents inside Neovim: the Python side of acp.nvim."""

__version__ = "0.1.0"
