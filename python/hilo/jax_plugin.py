"""What JAX calls when it looks for platforms: entry point `hilo` of the group `jax_plugins`.

The client names itself `cpu`, so that JAX lowers for it as for its own CPU, with donation, linear
algebra, callbacks and the compilation cache; it is registered, and chosen, as `hilo`.
The plugin itself reads HILO_DEVICES, HILO_THREADS, HILO_CACHE and HILO_CACHE_SIZE of the
environment.
"""

import atexit
import ctypes as C
import threading

from hilo import ffi_callbacks
from hilo.client import PLUGIN, POINTER, WORD, open_plugin
from hilo.ffi_callbacks import Extension

FFI_EXTENSION = 5
_lock = threading.Lock()
LOW_PRIORITY = -10  # JAX's own CPU has 0: nobody gets Hilo who has not asked for it


class Api(C.Structure):
    """The head of the table."""

    _fields_ = [("size", WORD), ("extensions", C.POINTER(Extension))]


class Ffi(C.Structure):
    """The extension that takes custom calls of the user."""

    _fields_ = [("head", Extension), ("type_register", POINTER), ("user_data_add", POINTER),
                ("register_handler", POINTER)]


class HandlerArguments(C.Structure):
    """PJRT_FFI_Register_Handler_Args."""

    _fields_ = [("size", WORD), ("name", C.c_char_p), ("name_size", WORD), ("handler", POINTER),
                ("platform", C.c_char_p), ("platform_size", WORD), ("traits", C.c_int)]


class Text(C.Structure):
    """XLA_FFI_ByteSpan."""

    _fields_ = [("start", C.c_char_p), ("size", WORD)]


class BundleArguments(C.Structure):
    """XLA_FFI_Handler_Register_Args."""

    _fields_ = [("size", WORD), ("extension", POINTER), ("name", Text), ("platform", Text),
                ("instantiate", POINTER), ("prepare", POINTER), ("initialize", POINTER),
                ("execute", POINTER), ("traits", C.c_uint32)]


class TypeArguments(C.Structure):
    """XLA_FFI_Type_Register_Args."""

    _fields_ = [("size", WORD), ("extension", POINTER), ("name", Text), ("type", POINTER),
                ("information", POINTER)]


def pointer_of(capsule):
    """The pointer in a PyCapsule."""
    get_name = C.PYFUNCTYPE(C.c_char_p, C.py_object)(("PyCapsule_GetName", C.pythonapi))
    get = C.PYFUNCTYPE(POINTER, C.py_object, C.c_char_p)(("PyCapsule_GetPointer", C.pythonapi))
    return get(capsule, get_name(capsule))


def ffi_of(c_api):
    """The FFI extension of a plugin's table."""
    extension = C.cast(pointer_of(c_api), C.POINTER(Api)).contents.extensions
    while extension and extension.contents.type != FFI_EXTENSION:
        extension = extension.contents.next
    return C.cast(extension, C.POINTER(Ffi)).contents if extension else None


def register_handlers(c_api):
    """Gives the client the handlers that JAX has, and those that its user registers later."""
    from jaxlib import lapack, xla_client

    ffi = ffi_of(c_api)
    if ffi is None:
        return
    register = C.CFUNCTYPE(POINTER, C.POINTER(HandlerArguments))(ffi.register_handler)

    def take(name, handler):
        name = name if isinstance(name, bytes) else name.encode()
        register(C.byref(HandlerArguments(C.sizeof(HandlerArguments), name, len(name), handler,
                                          b"Host", 4, 0)))

    def call_interface(function, arguments):
        """A function of the table that handlers see; it may refuse, as a client that says why."""
        table = ffi_callbacks.interfaces[0]
        error = C.CFUNCTYPE(POINTER, POINTER)(getattr(table, function))(C.byref(arguments))
        if error:
            ask = ffi_callbacks.Message(C.sizeof(ffi_callbacks.Message), None, error, None)
            C.CFUNCTYPE(None, POINTER)(table.error_message)(C.byref(ask))
            raise ValueError(ask.message.decode())

    def take_stages(name, capsules):
        name = name if isinstance(name, bytes) else name.encode()
        stages = [pointer_of(capsules[stage]) if capsules.get(stage) else None
                  for stage in ("instantiate", "prepare", "initialize", "execute")]
        call_interface("register", BundleArguments(C.sizeof(BundleArguments), None, Text(name, len(name)),
                                                   Text(b"Host", 4), *stages, 0))

    def take_capsule(name, capsule, api_version):
        if api_version == 1:  # the typed interface
            take_stages(name, capsule) if isinstance(capsule, dict) else take(name, pointer_of(capsule))

    def take_type(name, registration):
        xla_client._xla.register_custom_type(name, registration)  # numbers it, where it has no number
        name = name if isinstance(name, bytes) else name.encode()
        information = registration.get("type_info")
        call_interface("type_register", TypeArguments(
            C.sizeof(TypeArguments), None, Text(name, len(name)), pointer_of(registration["type_id"]),
            pointer_of(information) if information else None))

    def take_both(name, capsule, platform, api_version, traits):
        xla_client._xla.register_custom_call_target(name, capsule, platform, api_version, traits)
        take_capsule(name, capsule, api_version)

    for name, handler in ffi_callbacks.HANDLERS.items():
        take(name, C.cast(handler, POINTER).value)
    for targets in lapack.registrations().values():
        for name, capsule, version in targets:
            take_capsule(name, capsule, version)
    # The first registration of a platform's handler counts; JAX's own comes after it.
    xla_client.register_custom_call_handler("cpu", take_both)
    if hasattr(xla_client, "register_custom_type_handler"):
        xla_client.register_custom_type_handler("cpu", take_type)


def initialize():
    """Registers the platform, once for the process."""
    import jax
    from jax._src import xla_bridge

    with _lock:
        if "hilo" not in xla_bridge._backend_factories:
            register(jax, xla_bridge)


def register(jax, xla_bridge):
    # Gives its partitioners to every plugin, which must be there before programs have such calls.
    from jax._src import custom_partitioning

    del custom_partitioning
    getattr(xla_bridge, "_nonexperimental_plugins", set()).add("hilo")
    open_plugin()
    c_api = xla_bridge.register_plugin("hilo", priority=LOW_PRIORITY, library_path=str(PLUGIN))
    if jax.config.jax_platforms == "hilo":
        # Callbacks and dlpack keep their arrays on a platform that is called cpu.
        jax.config.update("jax_platforms", "hilo,cpu")
    register_handlers(c_api)
    atexit.register(keep_client, xla_bridge)


def keep_client(xla_bridge):
    """Arrays of NumPy that view a buffer tell its client when they go, and some go after JAX has let
    go of the client: modules are emptied last."""
    client = getattr(xla_bridge, "_backends", {}).get("hilo")
    if client is not None:
        C.pythonapi.Py_IncRef(C.py_object(client))
