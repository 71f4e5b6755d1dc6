"""Bad clients in Python: the good one, with one thing about it changed. The first argument says which."""

import os
import sys
import threading
import time

how = sys.argv.pop(1)
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../interop/python"))

import host  # noqa: E402


def traceback(self, params):
    """An exception that nobody catches ends the client in the middle of a call."""
    return {}["content"]


def daemon(self, params):
    """The client forks, its parent ends with success, and the child goes on in a session of its own."""
    if os.fork():
        os._exit(0)
    os.setsid()
    time.sleep(1000)


def thread(self, params):
    """A thread that never ends keeps the process from ending."""
    if not hasattr(self, "left"):
        self.left = True
        threading.Thread(target=time.sleep, args=(1000,)).start()
    return good(self, params)


def recursion(self, params):
    """The stack overflows."""
    return recursion(self, params)


good = host.Host.sample
host.Host.sample = {"traceback": traceback, "daemon": daemon, "thread": thread, "recursion": recursion}[how]

import client  # noqa: E402, F401
