"""The first code of the host's process: `python [-I] boot.py RPLUGIN` (lua/acp/host.lua).

Runs before anything is known about this Python, so it is written for every version, also for 2.7. What is
wrong is told on stderr in one line that starts with `acp-boot:`.
"""

import os
import sys

NEEDED = ("pynvim", "msgspec", "anyio")


def problem():
    # type: () -> str
    """Return `old VERSION` or `missing NAMES`, or an empty text when this Python will do."""
    if sys.version_info < (3, 11):  # noqa: UP036 - that is what is to be found out
        return "old " + ".".join(str(part) for part in sys.version_info[:3])
    from importlib.util import find_spec

    missing = [name for name in NEEDED if find_spec(name) is None]
    return "missing " + " ".join(missing) if missing else ""


def main():
    # type: () -> None
    """Take the user's project out of the import path, check, and become the host."""
    # This file's folder comes first by default, and has names of modules that others may have, too. Relative
    # entries come from PYTHONPATH; the working directory is the plugin's folder, so that even site did not
    # import from the user's project.
    here = __file__.replace("\\", "/").rpartition("/")[0]
    sys.path = [entry for entry in sys.path if entry.startswith("/") and entry != here]
    sys.path.insert(0, here.rpartition("/")[0])
    trouble = problem()
    if trouble:
        sys.stderr.write("acp-boot: " + trouble + "\n")
        sys.exit(3)
    import gc

    gc.disable()  # until the host is loaded: nothing of it becomes garbage, and looking for some takes 10 ms
    import pynvim

    # pynvim loads every argument that ends in .py, this file included, if it were left there.
    sys.argv[0] = "acp"
    code = 0
    try:
        pynvim.start_host()
    except (EOFError, OSError):  # Neovim is gone
        pass
    except Exception:
        import traceback

        code = 1
        traceback.print_exc()
    finally:
        saved = sys.modules.get("acp_nvim.service.saved")
        if saved is not None:
            saved.close_all()
        # No clean-up: the interpreter would wait for anyio's worker threads, for ever, and Neovim for us.
        # What agents are left is the reaper's work. In a finally: there may be nobody left to print to.
        os._exit(code)


if __name__ == "__main__":
    main()
