"""The names that lead from any object to the interpreter, or to another module's: read in a source, or looked up."""

from __future__ import annotations

# fmt: off
HIDING_NAMES = frozenset({
    "DisableTorchFunction", "DisableTorchFunctionSubclass", "_DisableTorchDispatch", "_disabled_torch_function_impl",
    "_pop_torch_function_stack", "_pop_torch_dispatch_stack", "_dispatch_library", "_getframe", "_current_frames",
    "currentframe", "f_back", "f_globals", "f_locals", "f_builtins", "tb_frame", "gi_frame", "cr_frame", "ag_frame",
    "__globals__", "__builtins__", "__closure__", "__code__", "__subclasses__", "__traceback__", "get_objects",
    "get_referrers", "get_referents", "setprofile", "getprofile", "settrace", "import_module", "decomposition_table",
    "__self__", "__loader__", "__spec__", "__build_class__", "load_module", "exec_module", "start_new_thread",
    "_start_new_thread", "start_joinable_thread", "_start_joinable_thread", "on_generate_code", "breakpointhook",
    "__breakpointhook__", "__annotations__", "__prepare__", "__package__", "__path__", "__del__",
    "func_globals", "func_dict", "func_code", "func_closure", "func_defaults", "__match_args__", "__get__",
    "__reduce_ex__", "_evaluate", "eval_str", "evaluate_forward_ref", "__forward_arg__",
    "__text_signature__", "from_callable",  # what `signature` runs
    "fget", "fset", "fdel", "__wrapped__",  # the function of a method, which takes any object
    "__array_interface__", "__array_struct__", "__cuda_array_interface__",  # any address as an array
    "__func__", "__getattribute__",
    "__forward_code__", "gi_code", "cr_code", "ag_code", "f_code", "co_code", "co_names", "co_consts",
    "__reduce__", "__getstate__", "__setstate__",  # what `copy` sets, under any name
    "__dataclass_fields__",  # what `replace` looks up
    "_convert_", "_create_",  # by which an `Enum` takes what a module has
    "_names_of_module",  # of what stands in the place of a module's dictionary: see `own_lookups`
    "_all_weights", "_key_to_attr",  # what an RNN and a `ParameterDict` look up in themselves
    "lr_lambdas", "_scale_fn_custom", "get_device_module",  # what a schedule gives all names of; a call gives a module
})
HIDING_PREFIXES = ("setprofile", "settrace", "_setprofile", "_settrace")  # for all threads, for one ...
# In an error, in warnings and in a path from 3.13 on; one's own object may have such a name.
NAMES_OF_MODULES = frozenset({"obj", "_module", "parser"})
# Attributes that lead to a hiding place, whatever they are of: a library may be in any hands, `def f(t): t.sys`.
HIDING_ATTRIBUTES = frozenset({
    "sys", "_sys", "builtins", "bltns", "ctypes", "importlib", "inspect", "traceback", "_thread", "_C",
    "pickle", "marshal", "runpy", "codeop", "pkgutil", "pydoc", "linecache", "multiprocessing", "threading",
    "multiprocessing_context", "ForkingPickler", "_flavour", "pathmod", "lr_scheduler",
    *NAMES_OF_MODULES,
})
# fmt: on
DICT = "__dict__"
# methods of layers that look up the name that they are told in what is told to be a part
OF_PARTS = frozenset({"get_buffer", "get_parameter", "get_submodule"})
METHODS = frozenset({"__getattr__", "__setattr__", "__delattr__"})  # look up, or set, what they are told


def is_hiding(name: str) -> bool:
    """Return True for a name behind which a call could be hidden, whatever it is looked up in."""
    return name in HIDING_NAMES or name.startswith(HIDING_PREFIXES)


# Modules of which functions or classes of their own may be looked up, or numbers and their types: `getattr(F, name)`.
OF_ANY_NAME = frozenset({
    "logging", "math", "torch", "torch.nn", "torch.nn.functional", "torch.nn.init", "torch.optim",
})  # fmt: skip
