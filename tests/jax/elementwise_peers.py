"""Elementwise functions of jax.numpy, jax.lax and jax.scipy on types of all kinds."""
import jax
import jax.numpy as jnp
from jax import lax

from on_hilo import Compared, add_cases, main, random_array

jax.config.update("jax_enable_x64", True)
F32, POSITIVE, UNIT = random_array((37, 5)), random_array((37, 5), low=0.1), random_array((37, 5), low=-0.9, high=0.9)
INTS, OTHER = random_array((41,), "int32"), random_array((41,), "int32", seed=3)
COMPLEX = random_array((9, 4), "complex64")


class Functions(Compared):
    """Of one argument."""


NAMES = ("sin cos tan sinh cosh tanh arctan arcsinh exp exp2 expm1 negative sign floor ceil rint trunc square "
         "reciprocal abs sinc cbrt deg2rad isfinite isnan signbit nan_to_num i0")
add_cases(Functions, {name: (getattr(jnp, name), F32) for name in NAMES.split()})
add_cases(Functions, {name: (getattr(jnp, name), POSITIVE) for name in "log log2 log10 log1p sqrt".split()})
add_cases(Functions, {name: (getattr(jnp, name), UNIT) for name in "arcsin arccos arctanh".split()})
add_cases(Functions, {f"special_{name}": (getattr(jax.scipy.special, name), POSITIVE)
                      for name in "erf erfc gammaln digamma ndtr log_ndtr entr expit logit i0e i1".split()})
add_cases(Functions, {"special_erfinv": (jax.scipy.special.erfinv, UNIT), "special_ndtri": (lambda x: jax.scipy.special.ndtri(abs(x)), UNIT)})
add_cases(Functions, {f"nn_{name}": (getattr(jax.nn, name), F32) for name in
                      "relu relu6 sigmoid softplus silu gelu elu selu celu leaky_relu hard_tanh log_sigmoid mish softmax log_softmax".split()})
add_cases(Functions, {f"complex_{name}": (getattr(jnp, name), COMPLEX) for name in
                      "sin cos tanh exp log sqrt abs angle conj real imag square reciprocal".split()})
for _dtype in ("float64", "bfloat16", "float16", "int8", "uint8", "int64", "uint32", "bool"):
    add_cases(Functions, {f"round_trip_{_dtype}": (lambda x, d=_dtype: (x.astype(d), x.astype(d).astype("float32")),
                                                   random_array((13,), low=0, high=9))})
for _dtype in ("float64", "bfloat16", "float16"):
    add_cases(Functions, {f"{name}_{_dtype}": (getattr(jnp, name), random_array((17,), _dtype, low=0.1))
                          for name in ("exp", "log", "tanh", "sqrt", "sin")})


class Operators(Compared):
    """Of two arguments and more."""


add_cases(Operators, {name: (getattr(jnp, name), F32, POSITIVE) for name in
                      "add subtract multiply divide maximum minimum arctan2 hypot logaddexp fmod copysign nextafter heaviside "
                      "equal less greater_equal fmax".split()})
add_cases(Operators, {"power": (jnp.power, POSITIVE, F32), "float_power": (lambda x: x**2.5, POSITIVE),
                      "integer_power": (lambda x: x**7, F32), "mod": (jnp.mod, F32, POSITIVE)})
add_cases(Operators, {f"int_{name}": (getattr(jnp, name), INTS, OTHER) for name in
                      "add subtract multiply bitwise_and bitwise_or bitwise_xor maximum equal less floor_divide remainder gcd".split()})
add_cases(Operators, {
    "shifts": (lambda x: (x << 3, x >> 2, lax.shift_right_logical(x, jnp.int32(1))), INTS),
    "population_count": (lambda x: (lax.population_count(x), lax.clz(x)), INTS),
    "invert": (jnp.invert, INTS),
    "where": (lambda x, y: jnp.where(x > 0, x, y), F32, POSITIVE),
    "select_n": (lambda x: lax.select_n(x > 0, x, -x), F32),
    "clip": (lambda x: jnp.clip(x, -1, 0.5), F32),
    "clamp": (lambda x: lax.clamp(-1.0, x, 1.0), F32.astype("float64")),
    "complex_product": (lambda x: x * x.conj() + x / (x + 3), COMPLEX),
    "reduce_precision": (lambda x: lax.reduce_precision(x, 5, 7), F32),
    "bitcast": (lambda x: lax.bitcast_convert_type(x, jnp.uint32), F32),
    "bitcast_narrow": (lambda x: lax.bitcast_convert_type(x, jnp.uint8), F32),
    "betainc": (lambda a, x: jax.scipy.special.betainc(a, a + 1, abs(x)), POSITIVE, UNIT),
    "gammainc": (jax.scipy.special.gammainc, POSITIVE, POSITIVE),
    "zeta": (lambda x: jax.scipy.special.zeta(x + 2, 1.5), POSITIVE),
    "xlogy": (jax.scipy.special.xlogy, POSITIVE, POSITIVE),
    "float8": (lambda x: x.astype(jnp.float8_e4m3fn).astype(jnp.float32), F32),
    "int4": (lambda x: x.astype(jnp.int4).astype(jnp.int32) + 1, INTS),
})

if __name__ == "__main__":
    main()
