"""`python -m ppcfetch` is the same as `ppcfetch`."""

from ppcfetch.cli import main

if __name__ == "__main__":
    main()
