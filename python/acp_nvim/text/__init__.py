"""Pure functions on text: safe to show, width, short paths, line diff."""
