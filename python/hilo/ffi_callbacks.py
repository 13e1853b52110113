"""Custom calls that call Python: jax.pure_callback, io_callback, debug.print, debug.callback, and
jax.experimental.buffer_callback, whose callables see the memory of their arrays.

The structures are those of XLA's typed foreign function interface, version 0.3
(jaxlib/include/xla/ffi/api/c_api.h).
"""

import ctypes as C
import functools
import math
import traceback

import numpy as np

from hilo.client import POINTER, WORD, dtype_named

TARGETS = ("xla_ffi_python_cpu_callback", "xla_ffi_partitioned_python_cpu_callback")
BUFFER_TARGET = "xla_buffer_python_cpu_callback"
LOADED_CALLBACKS = C.c_int64(7357244197867843242)  # the type of the client's list of callables
METADATA, TOKEN, INTERNAL = 1, 17, 13
# Element types of HLO (xla_data.proto) by number; what NumPy lacks is ml_dtypes'.
TYPES = {1: "bool", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "uint8", 7: "uint16",
         8: "uint32", 9: "uint64", 10: "float16", 11: "float32", 12: "float64", 15: "complex64",
         16: "bfloat16", 18: "complex128", 19: "float8_e5m2", 20: "float8_e4m3fn", 21: "int4",
         22: "uint4", 23: "float8_e4m3b11fnuz", 24: "float8_e5m2fnuz", 25: "float8_e4m3fnuz", 26: "int2",
         27: "uint2", 28: "float8_e4m3", 29: "float8_e3m4", 32: "float4_e2m1fn", 33: "float8_e8m0fnu"}


class Extension(C.Structure):
    """The head of each extension."""


Extension._fields_ = [("size", WORD), ("type", C.c_int), ("next", C.POINTER(Extension))]


def _structure(name, *fields, head=True):
    first = [("size", WORD), ("extension", POINTER)] if head else []
    return type(name, (C.Structure,), {"_fields_": first + list(fields)})


Values = _structure("Values", ("count", C.c_int64), ("types", C.POINTER(C.c_int)),
                    ("values", C.POINTER(POINTER)))
Attributes = _structure("Attributes", ("count", C.c_int64), ("types", C.POINTER(C.c_int)),
                        ("names", POINTER), ("values", C.POINTER(POINTER)))
Buffer = _structure("Buffer", ("type", C.c_int), ("data", POINTER), ("rank", C.c_int64),
                    ("dims", C.POINTER(C.c_int64)))
Scalar = _structure("Scalar", ("type", C.c_int), ("value", C.POINTER(C.c_uint64)), head=False)
Version = _structure("Version", ("major", C.c_int), ("minor", C.c_int))
Api = _structure("Api", ("version", Version), ("internal", POINTER), ("error_create", POINTER),
                 ("error_message", POINTER), ("error_destroy", POINTER), ("register", POINTER),
                 ("stream", POINTER), ("type_register", POINTER), ("context_get", POINTER))
interfaces = []  # the plugin's table, which each handler sees that is asked for its version
Frame = _structure("Frame", ("api", C.POINTER(Api)), ("context", POINTER), ("stage", C.c_int),
                   ("arguments", Values), ("results", Values), ("attributes", Attributes))
Get = _structure("Get", ("context", POINTER), ("type", C.POINTER(C.c_int64)), ("data", POINTER))
ContextGet = C.CFUNCTYPE(POINTER, C.POINTER(Get))
Message = _structure("Message", ("error", POINTER), ("message", C.c_char_p))
Failure = _structure("Failure", ("message", C.c_char_p), ("code", C.c_int))
Callbacks = _structure("Callbacks", ("values", C.POINTER(C.py_object)), ("count", WORD), head=False)
Metadata = _structure("Metadata", ("size", WORD), ("version", Version), ("traits", C.c_uint32),
                      ("state", C.c_int64), head=False)
MetadataExtension = _structure("MetadataExtension", ("head", Extension),
                               ("metadata", C.POINTER(Metadata)), head=False)


# Not an array type of ctypes, whose making for each size costs more than the rest of a view.
memory_view = C.PYFUNCTYPE(C.py_object, POINTER, C.c_ssize_t, C.c_int)(
    ("PyMemoryView_FromMemory", C.pythonapi))
TO_WRITE = 0x200  # PyBUF_WRITE


@functools.cache
def dtype_numbered(number):
    """The NumPy type of an element type of HLO."""
    return dtype_named(TYPES[number])


def view_of(pointer):
    """A buffer of a call as an array over its memory; None for a token."""
    buffer = Buffer.from_address(pointer)
    if buffer.type == TOKEN:
        return None
    dims = buffer.dims[:buffer.rank]
    dtype = dtype_numbered(buffer.type)
    size = math.prod(dims) * dtype.itemsize
    if size == 0:
        return np.zeros(dims, dtype)
    return np.ndarray(dims, dtype, memory_view(buffer.data, size, TO_WRITE))


def views_of(values, view):
    """What `view` makes of each buffer."""
    pointers = values.values
    return [view(pointers[i]) for i in range(values.count)]


def copy_of(pointer):
    """A buffer's elements, which stay after the call: JAX may read them later."""
    view = view_of(pointer)
    if view is None:
        return None
    out = view.copy()
    out.flags.writeable = False
    return out


def say_version(extension):
    """Fills the metadata that a caller asks for; whether it asked."""
    while extension:
        head = C.cast(extension, C.POINTER(Extension)).contents
        if head.type == METADATA:
            metadata = C.cast(extension, C.POINTER(MetadataExtension)).contents.metadata.contents
            metadata.version.major, metadata.version.minor, metadata.traits = 0, 3, 0
            return True
        extension = C.cast(head.next, POINTER).value
    return False


class CallBuffer:
    """An array of a call where it lies, as long as the call runs."""

    def __init__(self, pointer, writeable):
        self._view = view_of(pointer)
        self._view.flags.writeable = writeable

    shape = property(lambda self: self._view.shape)
    dtype = property(lambda self: self._view.dtype)
    ndim = property(lambda self: self._view.ndim)
    writeable = property(lambda self: self._view.flags.writeable)

    def __array__(self, dtype=None, copy=None):
        if copy or (dtype is not None and np.dtype(dtype) != self.dtype):
            if copy is False:
                raise ValueError(f"an array of {self.dtype} is none of {dtype} without a copy")
            return self._view.astype(dtype or self.dtype)
        return self._view

    def __dlpack__(self, **options):
        return self._view.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._view.__dlpack_device__()


class CallContext:
    """What a callable of buffer_callback may ask of its call."""

    @property
    def stage(self):
        from jax._src.lib import ffi

        return ffi.ExecutionStage.EXECUTE

    @property
    def stream(self):
        import jax

        raise jax.errors.JaxRuntimeError("UNIMPLEMENTED: XLA FFI GPU context is not available")


def callable_of(frame):
    """The callable that the attribute `index` numbers."""
    get = Get(C.sizeof(Get), None, frame.context, C.pointer(LOADED_CALLBACKS), None)
    ContextGet(frame.api.contents.context_get)(C.byref(get))
    index = Scalar.from_address(frame.attributes.values[0]).value[0]
    return Callbacks.from_address(get.data).values[index]


def call_with_copies(frame):
    """Calls the callable with copies of the operands, and keeps what it returns."""
    returned = callable_of(frame)(*views_of(frame.arguments, copy_of))
    for i, result in enumerate(views_of(frame.results, view_of)):
        if result is not None:
            result[...] = np.asarray(returned[i])


def call_with_buffers(frame):
    """Calls the callable with the operands, to read, and the results, to fill."""
    operands = views_of(frame.arguments, lambda pointer: CallBuffer(pointer, False))
    results = views_of(frame.results, lambda pointer: CallBuffer(pointer, True))
    callable_of(frame)(CallContext(), *operands, *results)


def handler_of(call):
    """The handler that does `call`: null, or an error with the traceback."""

    def handle(pointer):
        frame = pointer.contents
        if say_version(frame.extension):
            interfaces[:] = [frame.api.contents]
            return None
        try:
            call(frame)
            return None
        except BaseException as error:  # nothing passes the caller, which is no Python
            text = "CpuCallback error calling callback: " + "".join(traceback.format_exception(error))
            create = C.CFUNCTYPE(POINTER, C.POINTER(Failure))(frame.api.contents.error_create)
            return create(C.byref(Failure(C.sizeof(Failure), None, text.encode(), INTERNAL)))

    return C.CFUNCTYPE(POINTER, C.POINTER(Frame))(handle)


# By target; they stay, for C calls them.
HANDLERS = {**dict.fromkeys(TARGETS, handler_of(call_with_copies)),
            BUFFER_TARGET: handler_of(call_with_buffers)}
