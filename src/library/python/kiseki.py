# SPDX-License-Identifier: MIT
"""Reads traces of Kiseki: <kiseki/trace.h> for Python, by ctypes and nothing else.

    import kiseki
    with kiseki.Trace("some.ksk") as trace:
        for item in trace:
            if item.type == kiseki.EVENT and item.event.kind == kiseki.SWITCH:
                print(item.ns, item.cpu, item.event.other.comm)

An item is the struct of the header, with its names; it is good until the next one.
"""
import ctypes
import os
from ctypes import POINTER, byref, c_char, c_char_p, c_int32, c_int64, c_uint8, c_uint32, c_uint64, c_void_p

EVENT, LOSS = range(2)
SWITCH, WAKING, WAKEUP, WAKEUP_NEW, FORK, EXEC, EXIT, RENAME, SETPRIO = range(9)
COUNT_UNKNOWN = 2 ** 64 - 1


class Error(Exception):
    """What the library says went wrong."""


class _Reason(ctypes.Structure):
    _fields_ = [("text", c_char * 512)]


class Task(ctypes.Structure):
    _fields_ = [("pid", c_int32), ("prio", c_int32), ("_comm", c_uint8 * 16)]

    @property
    def comm(self):
        return bytes(self._comm).rstrip(b"\0").decode("utf-8", "replace")


class Event(ctypes.Structure):
    _fields_ = [("tick", c_uint64), ("state", c_uint64), ("_filename", c_void_p), ("_filename_len", c_uint32),
                ("tick_off_ns", c_int32), ("pid", c_int32), ("value", c_int32), ("kind", c_uint8), ("flags", c_uint8),
                ("preempt_count", c_uint8), ("extra", c_uint8), ("_reserved", c_uint32), ("task", Task), ("other", Task)]

    @property
    def filename(self):
        return ctypes.string_at(self._filename, self._filename_len).decode("utf-8", "replace") if self._filename else ""


class Loss(ctypes.Structure):
    _fields_ = [("from_tick", c_uint64), ("to_tick", c_uint64), ("count", c_uint64), ("cause", c_uint32),
                ("_reserved", c_uint32)]


class Item(ctypes.Structure):
    _fields_ = [("type", c_uint32), ("cpu", c_uint32), ("ns", c_uint64), ("event", Event), ("loss", Loss),
                ("_reserved", c_uint64 * 4)]


class Description(ctypes.Structure):
    _fields_ = [("_device", c_char_p), ("_kernel", c_char_p), ("_machine", c_char_p), ("_origin", c_char_p),
                ("cpus", c_uint32), ("clock_mult", c_uint32), ("clock_shift", c_uint32), ("has_realtime", c_uint32),
                ("clock_base_ns", c_uint64), ("realtime_off_ns", c_int64), ("_reserved", c_uint64 * 4)]
    device = property(lambda self: self._device.decode())
    kernel = property(lambda self: self._kernel.decode())
    machine = property(lambda self: self._machine.decode())
    origin = property(lambda self: self._origin.decode())


def _load():
    library = ctypes.CDLL(os.environ.get("KISEKI_LIBRARY", "libkiseki.so.1"))
    library.ks_trace_open.argtypes = [POINTER(c_void_p), c_char_p, POINTER(_Reason)]
    library.ks_trace_close.argtypes = [c_void_p]
    library.ks_trace_close.restype = None
    library.ks_trace_next.argtypes = [c_void_p, POINTER(Item), POINTER(_Reason)]
    library.ks_trace_seek.argtypes = [c_void_p, c_uint64, POINTER(_Reason)]
    library.ks_trace_get_description.argtypes = [c_void_p]
    library.ks_trace_get_description.restype = POINTER(Description)
    library.ks_trace_get_ns.argtypes = [c_void_p, c_uint64]
    library.ks_trace_get_ns.restype = c_uint64
    for name in ("ks_kind_get_word", "ks_cause_get_word"):
        getattr(library, name).argtypes = [c_uint32]
        getattr(library, name).restype = c_char_p
    library.ks_version.restype = c_char_p
    return library


_library = _load()
version = _library.ks_version().decode()


def kind_word(kind):
    word = _library.ks_kind_get_word(kind)
    return word.decode() if word else None


def cause_word(cause):
    word = _library.ks_cause_get_word(cause)
    return word.decode() if word else None


class Trace:
    """A file, as an iterator over its items in order of time."""

    def __init__(self, path):
        self._trace, self._reason, self._item = c_void_p(), _Reason(), Item()
        self._check(_library.ks_trace_open(byref(self._trace), os.fsencode(path), byref(self._reason)))

    def _check(self, answer):
        if answer < 0:
            raise Error(self._reason.text.decode("utf-8", "replace"))
        return answer

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()

    def __iter__(self):
        return self

    def __next__(self):
        if not self._check(_library.ks_trace_next(self._trace, byref(self._item), byref(self._reason))):
            raise StopIteration
        return self._item

    def close(self):
        _library.ks_trace_close(self._trace)
        self._trace = c_void_p()

    def seek(self, tick):
        self._check(_library.ks_trace_seek(self._trace, tick, byref(self._reason)))

    def ns(self, tick):
        return _library.ks_trace_get_ns(self._trace, tick)

    @property
    def description(self):
        return _library.ks_trace_get_description(self._trace).contents
