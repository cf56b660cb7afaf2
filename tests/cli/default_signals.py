"""Import this where programs are sent signals: what pytest ignores, they would ignore too.

SIGHUP is ignored where all of this runs under nohup, SIGINT where a shell runs it in the background.
"""
import signal

signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
