"""A small client of the plugin's C interface (PJRT), by ctypes alone."""

import ctypes as C
import functools
import os
from pathlib import Path

import numpy as np

PLUGIN = Path(os.environ.get("HILO_PLUGIN") or Path(__file__).parent / "lib" / "libhilo_pjrt.so")
WORD, POINTER, ENUM = C.c_size_t, C.c_void_p, C.c_int32

# Function -> its number in the table, and the fields of its arguments behind the two of all.
FUNCTIONS = {
    "error_destroy": (0, [("error", POINTER)]),
    "error_message": (1, [("error", POINTER), ("message", POINTER), ("size", WORD)]),
    "event_destroy": (5, [("event", POINTER)]),
    "event_await": (8, [("event", POINTER)]),
    "client_create": (10, [("options", POINTER), ("option_count", WORD), ("get", POINTER),
                           ("get_user", POINTER), ("put", POINTER), ("put_user", POINTER),
                           ("client", POINTER), ("try_get", POINTER), ("try_get_user", POINTER)]),
    "client_addressable_devices": (16, [("client", POINTER), ("devices", C.POINTER(POINTER)),
                                        ("count", WORD)]),
    "client_compile": (20, [("client", POINTER), ("program", POINTER), ("options", C.c_char_p),
                            ("options_size", WORD), ("executable", POINTER)]),
    "buffer_from_host": (22, [("client", POINTER), ("data", POINTER), ("type", ENUM),
                              ("dims", POINTER), ("rank", WORD), ("strides", POINTER),
                              ("stride_count", WORD), ("semantics", ENUM), ("device", POINTER),
                              ("memory", POINTER), ("layout", POINTER), ("done", POINTER),
                              ("buffer", POINTER)]),
    "executable_destroy": (40, [("executable", POINTER)]),
    "executable_num_outputs": (44, [("executable", POINTER), ("count", WORD)]),
    "loaded_destroy": (50, [("executable", POINTER)]),
    "loaded_get_executable": (51, [("loaded", POINTER), ("executable", POINTER)]),
    "execute": (55, [("executable", POINTER), ("options", POINTER), ("arguments", POINTER),
                     ("device_count", WORD), ("argument_count", WORD), ("outputs", POINTER),
                     ("complete", POINTER), ("device", POINTER)]),
    "buffer_destroy": (58, [("buffer", POINTER)]),
    "buffer_element_type": (59, [("buffer", POINTER), ("type", ENUM)]),
    "buffer_dimensions": (60, [("buffer", POINTER), ("dims", C.POINTER(C.c_int64)),
                               ("rank", WORD)]),
    "buffer_to_host": (70, [("buffer", POINTER), ("layout", POINTER), ("to", POINTER),
                            ("size", WORD), ("event", POINTER)]),
}
HEAD = [("struct_size", WORD), ("extension", POINTER)]
TABLE_OFFSET = 40  # of the functions in the table
# A CompileOptionsProto: its field 3, the build options, with one replica (4) and partition (5).
ONE_DEVICE = bytes([3 << 3 | 2, 4, 4 << 3, 1, 5 << 3, 1])

# PJRT_Buffer_Type: names of NumPy and ml_dtypes by number.
TYPES = dict(enumerate(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 bfloat16 "
    "complex64 complex128 float8_e5m2 float8_e4m3fn float8_e4m3b11fnuz float8_e5m2fnuz "
    "float8_e4m3fnuz int4 uint4".split(), start=1))
NUMBERS = {name: number for number, name in TYPES.items()}


class PjrtError(ValueError):
    """What the plugin says is wrong."""


def structure(name, fields):
    """The ctypes class of an argument structure."""
    return type(name, (C.Structure,), {"_fields_": HEAD + fields})


ARGUMENTS = {name: structure(name, fields) for name, (_, fields) in FUNCTIONS.items()}
PROGRAM = structure("program", [("code", C.c_char_p), ("code_size", WORD),
                                ("format", C.c_char_p), ("format_size", WORD)])
OPTIONS = structure("execute_options", [("send", POINTER), ("receive", POINTER),
                                        ("send_count", WORD), ("receive_count", WORD),
                                        ("launch_id", C.c_int32), ("kept", POINTER),
                                        ("kept_count", WORD), ("context", POINTER),
                                        ("call_location", POINTER), ("task_count", WORD),
                                        ("task_ids", POINTER), ("incarnation_ids", POINTER)])


def sized(structure_type, **fields):
    """A structure that says its size, as the interface wants it."""
    last = structure_type._fields_[-1]
    size = getattr(structure_type, last[0]).offset + C.sizeof(last[1])
    return structure_type(struct_size=size, **fields)


def dtype_named(name):
    """The NumPy type of that name; ml_dtypes has the narrow ones."""
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))


def dtype_of(number):
    """The NumPy type of a PJRT_Buffer_Type."""
    if number not in TYPES:
        raise PjrtError(f"a result has an element type (number {number}) that NumPy lacks")
    return dtype_named(TYPES[number])


def open_plugin(path=PLUGIN):
    """Opens the plugin, and who opens it after that gets the same one. Its names are those of its own
    libraries first: others in the process show another protobuf to everybody (TensorFlow does)."""
    return C.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_DEEPBIND)


class Client:
    """One device of this machine."""

    def __init__(self, path=PLUGIN):
        get = open_plugin(path).GetPjrtApi
        get.restype = POINTER
        self.table = get() + TABLE_OFFSET
        self.functions = {}
        self.client = self.call("client_create").client
        self.device = self.call("client_addressable_devices", client=self.client).devices[0]

    def call(self, name, **fields):
        """Calls a function of the table; its arguments come back. Raises PjrtError."""
        arguments = sized(ARGUMENTS[name], **fields)
        error = self._function(name)(C.byref(arguments))
        if error:
            told = sized(ARGUMENTS["error_message"], error=error)
            self._function("error_message")(C.byref(told))
            message = C.string_at(told.message, told.size).decode(errors="replace")
            self._function("error_destroy")(C.byref(sized(ARGUMENTS["error_destroy"], error=error)))
            raise PjrtError(message)
        return arguments

    def compile(self, code):
        """An Executable of a serialised HloModuleProto."""
        program = sized(PROGRAM, code=code, code_size=len(code), format=b"hlo",
                        format_size=3)
        loaded = self.call("client_compile", client=self.client,
                           program=C.addressof(program), options=ONE_DEVICE,
                           options_size=len(ONE_DEVICE)).executable
        return Executable(self, loaded)

    def put(self, array):
        """A buffer that holds a copy of an array, or the array itself for the time of a call."""
        if array.dtype.name not in NUMBERS:
            raise PjrtError(f"an argument of type {array.dtype} has no element type of HLO")
        dims = (C.c_int64 * max(array.ndim, 1))(*array.shape)
        strides = (C.c_int64 * max(array.ndim, 1))(*array.strides)
        out = self.call("buffer_from_host", client=self.client, data=array.ctypes.data,
                        type=NUMBERS[array.dtype.name], dims=C.addressof(dims), rank=array.ndim,
                        strides=C.addressof(strides), stride_count=array.ndim, semantics=0,
                        device=self.device)
        if out.done:
            self.call("event_destroy", event=out.done)
        return out.buffer

    def get(self, buffer):
        """A buffer's elements as an array."""
        told = self.call("buffer_dimensions", buffer=buffer)
        dtype = dtype_of(self.call("buffer_element_type", buffer=buffer).type)
        out = np.empty([told.dims[i] for i in range(told.rank)], dtype)
        self.wait(self.call("buffer_to_host", buffer=buffer, to=out.ctypes.data,
                            size=max(out.nbytes, 1)).event)
        return out

    def wait(self, event):
        """Waits for an event and lets it go; raises what it carries."""
        if not event:
            return
        try:
            self.call("event_await", event=event)
        finally:
            self.call("event_destroy", event=event)

    def _function(self, name):
        if name not in self.functions:
            slot = POINTER.from_address(self.table + C.sizeof(POINTER) * FUNCTIONS[name][0]).value
            self.functions[name] = C.CFUNCTYPE(POINTER, POINTER)(slot)
        return self.functions[name]


class Executable:
    """A compiled program on one device."""

    def __init__(self, client, loaded):
        self.client, self.loaded = client, loaded
        inner = client.call("loaded_get_executable", loaded=loaded).executable
        self.outputs = client.call("executable_num_outputs", executable=inner).count
        client.call("executable_destroy", executable=inner)

    def __del__(self):
        self.client.call("loaded_destroy", executable=self.loaded)

    def __call__(self, arguments):
        """The results, in order."""
        client = self.client
        buffers = [client.put(np.asarray(argument)) for argument in arguments]
        results = (POINTER * max(self.outputs, 1))()
        complete = (POINTER * 1)()
        given = (POINTER * max(len(buffers), 1))(*buffers)
        given_lists = (POINTER * 1)(C.addressof(given))
        result_lists = (POINTER * 1)(C.addressof(results))
        options = sized(OPTIONS)
        try:
            client.call("execute", executable=self.loaded, options=C.addressof(options),
                        arguments=C.addressof(given_lists), device_count=1,
                        argument_count=len(buffers), outputs=C.addressof(result_lists),
                        complete=C.addressof(complete))
            client.wait(complete[0])
            return [client.get(result) for result in results[:self.outputs]]
        finally:
            for buffer in [*buffers, *results[:self.outputs]]:
                if buffer:
                    client.call("buffer_destroy", buffer=buffer)


@functools.cache
def shared():
    """The client of this process."""
    return Client()
