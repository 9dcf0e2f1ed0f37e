"""The types of ACP v2 (the preview of November 2026), and a ``Codec`` for each thing we receive."""
