"""The HTTP server: the library for browsers, programs and other machines.

It needs the extra `serve`; nothing outside this package imports what that installs.
"""
