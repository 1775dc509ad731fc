"""Tells cffi's generator what the compiled module offers: the marked part of api.h."""

from pathlib import Path

from cffi import FFI

HERE = Path(__file__).parent

ffibuilder = FFI()
_, _, rest = (HERE / "api.h").read_text().partition("/* cdef begins */")
cdef, _, _ = rest.partition("/* cdef ends */")
ffibuilder.cdef(cdef)
ffibuilder.set_source("tickmon.sampling._native", '#include "api.h"')
