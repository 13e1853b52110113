"""One element of the result from one element of each operand, in every element type."""

import jax
import jax.numpy as jnp
from jax import lax

from families.registry import program

f32, bf16, f16 = jnp.float32, jnp.bfloat16, jnp.float16


def unary(x):
    near = jnp.clip(x, -0.9375, 0.9375)
    positive = jnp.abs(x) + x.dtype.type(0.125)
    return (
        jnp.sin(x),
        jnp.cos(x),
        jnp.tan(x),
        jnp.arcsin(near),
        jnp.arccos(near),
        jnp.arctan(x),
        jnp.sinh(x),
        jnp.cosh(x),
        jnp.tanh(x),
        jnp.arcsinh(x),
        jnp.arccosh(1 + positive),
        jnp.arctanh(near),
        jnp.exp(x),
        jnp.exp2(x),
        jnp.expm1(x),
        jnp.log(positive),
        jnp.log2(positive),
        jnp.log10(positive),
        jnp.log1p(positive),
        jnp.sqrt(positive),
        lax.rsqrt(positive),
        jnp.cbrt(x),
        lax.logistic(x),
        jnp.square(x),
        jnp.reciprocal(positive),
        jnp.sign(x),
        jnp.abs(x),
        -x,
        lax.erf(x),
        lax.erfc(x),
        lax.erf_inv(near),
    )


def binary(x, y):
    far = y + jnp.copysign(y.dtype.type(0.25), y)
    return (
        x + y,
        x - y,
        x * y,
        x / far,
        jnp.maximum(x, y),
        jnp.minimum(x, y),
        jnp.arctan2(x, y),
        jnp.hypot(x, y),
        jnp.power(jnp.abs(x) + 0.5, y),
        jnp.copysign(x, y),
        jnp.logaddexp(x, y),
        jnp.heaviside(x, y),
        lax.clamp(-y, x, y * 0),
        jnp.fmax(x, y),
        x**3,
        jnp.where(x < y, x, y),
    )


def with_jumps(x, y):  # where rounding of an operand may change the result by much
    far = y + jnp.copysign(0.25, y)
    return (
        jnp.fmod(x, far),
        jnp.remainder(x, far),
        jnp.floor_divide(x, far),
        jnp.isclose(x, y, atol=0.1),
    )


@program("f32[24,100]")
def unary_f32(x):
    return unary(x)


@program("bf16[16,256]")
def unary_bf16(x):
    return unary(x)


@program("f16[8,130]")
def unary_f16(x):
    return unary(x)


@program("f32[7,300]", "f32[7,300]")
def binary_f32(x, y):
    return binary(x, y), with_jumps(x, y)


@program("bf16[32,128]", "bf16[32,128]")
def binary_bf16(x, y):
    return binary(x, y)


@program("f32[5,3,70]", "f32[3,1]")
def binary_broadcast(x, y):
    return binary(x, jnp.broadcast_to(y, x.shape))


def quotients(x, y):
    return x // y, x % y, lax.div(x, y), lax.rem(x, y)


def integers(x, y):
    shift = y & 3
    return (
        x + y,
        x - y,
        x * y,
        x & y,
        x | y,
        x ^ y,
        ~x,
        x << shift,
        x >> shift,
        lax.shift_right_logical(x, shift),
        jnp.maximum(x, y),
        jnp.minimum(x, y),
        lax.population_count(x),
        lax.clz(x),
        jnp.sign(x),
        abs(x),
        x**2,
        x < y,
        x == y,
        jnp.where(x > y, x, y),
        jnp.clip(x, 2, 5),
    )


@program("s32[16,100]", "s32[16,100]")
def integers_s32(x, y):
    return integers(x - 4, y), quotients(x - 4, y | 1)


@program("u32[9,128]", "u32[9,128]")
def integers_u32(x, y):
    return integers(x * jnp.uint32(2654435761), y), quotients(x * jnp.uint32(2654435761), y | 1)


@program("s8[32,128]", "s8[32,128]")
def integers_s8(x, y):
    return integers(x * 17 - 50, y), quotients(x * 17 - 50, y | 1)


@program("u8[33,64]", "u8[33,64]")
def integers_u8(x, y):
    return integers(x * 31, y), quotients(x * 31, y | 1)


@program("s16[16,128]", "s16[16,128]")
def integers_s16(x, y):
    return integers(x * 4001, y), quotients(x * 4001, y | 1)


@program("u16[5,200]", "u16[5,200]")
def integers_u16(x, y):
    return integers(x * 8191, y), quotients(x * 8191, y | 1)


@program("s64[16,24]", "s64[16,24]", x64=True)
def integers_s64(x, y):
    return integers(x * 1234567890123 - 5, y)


@program("s64[40]", "s64[40]", x64=True, chips=["v5e:2x2"])  # compiled in minutes
def quotient_s64(x, y):
    return lax.div(x * 1234567890123 - 5, y | 1)


@program("u64[8,40]", "u64[8,40]", x64=True)
def integers_u64(x, y):
    return integers(x * 1234567890123456789, y)


@program("s32[64]", "s32[64]")
def number_theory(x, y):
    return jnp.gcd(x, y), jnp.lcm(x, y), jnp.power(x, y), jnp.divmod(x, y | 1)


@program("s4[16,128]", "u4[16,128]")
def integers_of_4_bits(x, y):
    wide = x.astype(jnp.int8) - 4
    back = wide.astype(jnp.int4)
    return (
        back.astype(jnp.int32) * y.astype(jnp.int32),
        (back + back).astype(jnp.int8),
        y.astype(f32),
    )


@program("f64[20,30]", "f64[20,30]", x64=True)
def elementwise_f64(x, y):
    return (
        x + y,
        x * y,
        x / (y * y + 1),
        jnp.exp(x),
        jnp.log(x * x + 1),
        jnp.sqrt(x * x + y * y),
        jnp.tanh(x),
        jnp.sin(x),
        jnp.maximum(x, y),
        jnp.floor(x * 8),
        (x * 100).astype("int64"),
        x.astype(f32),
        x < y,
    )


@program("f64[6,50]", x64=True)
def unary_f64(x):
    return jnp.cosh(x), jnp.arctan(x), jnp.log1p(x * x), jnp.expm1(x), jnp.cbrt(x)


@program("c64[12,50]", "c64[12,50]")
def complex_c64(x, y):
    z = y + 0.5 + 0.25j
    return (
        x + y,
        x * y,
        x / z,
        jnp.exp(x),
        jnp.log(z),
        jnp.sqrt(z),
        jnp.abs(x),
        jnp.angle(z),
        jnp.conj(x),
        x.real,
        y.imag,
        jnp.tanh(x),
        jnp.sin(x),
        jnp.cos(y),
        lax.complex(x.real, y.imag),
        z**2,
        jnp.isfinite(x),
        x == y,
        lax.rsqrt(z),
        jnp.expm1(x),
        jnp.log1p(x),
    )


@program("pred[16,128]", "pred[16,128]")
def logic(x, y):
    return (
        x & y,
        x | y,
        x ^ y,
        ~x,
        jnp.where(x, 1.5, -2),
        x.astype(f32),
        x.sum(),
        x < y,
        x.all(1),
        y.any(0),
    )


@program("f32[16,128]", "s32[16,128]")
def conversions(x, n):
    y = x * 20
    wide = [y.astype(t) for t in (bf16, f16, jnp.int32, jnp.int16, jnp.int8)]
    positive = [jnp.abs(y).astype(t) for t in (jnp.uint32, jnp.uint16, jnp.uint8)]
    back = [n.astype(t) for t in (f32, bf16, f16, jnp.int8, jnp.uint8, jnp.int16, jnp.bool_)]
    return wide, positive, back


@program("f32[32,128]", "bf16[32,128]")
def conversions_fp8(x, y):
    kinds = (jnp.float8_e4m3fn, jnp.float8_e5m2, jnp.float8_e4m3b11fnuz, jnp.float8_e5m2fnuz)
    return [(x.astype(t).astype(f32), y.astype(t).astype(bf16), x.astype(t)) for t in kinds]


@program("f32[8,256]", "s32[8,256]", "bf16[8,256]")
def bit_patterns(x, n, b):
    bits = lax.bitcast_convert_type(x, jnp.int32)
    return (
        bits,
        lax.bitcast_convert_type(n * 1000003, f32) * 0,
        lax.bitcast_convert_type(b, jnp.uint16),
        lax.reduce_precision(x, 5, 7),
        lax.reduce_precision(x, 8, 3),
        jnp.nextafter(x, x + 1),
        jnp.signbit(x),
        lax.bitcast_convert_type(n, jnp.int8),
        jnp.frexp(x),
        jnp.ldexp(x, n),
    )


@program("f32[10,128]")
def rounding(x):
    y = x * 10
    return (
        jnp.round(y),
        jnp.floor(y),
        jnp.ceil(y),
        jnp.trunc(y),
        jnp.rint(y),
        lax.round(y, lax.RoundingMethod.AWAY_FROM_ZERO),
        jnp.modf(y),
        jnp.round(y, 1),
        jnp.isnan(y / y),
        jnp.isinf(1 / (y - y)),
        jnp.nan_to_num(y / 0),
    )


@program("f32[16,200]")
def activations(x):
    n = jax.nn
    return (
        n.relu(x),
        n.relu6(x),
        n.sigmoid(x),
        n.softplus(x),
        n.soft_sign(x),
        n.silu(x),
        n.log_sigmoid(x),
        n.leaky_relu(x),
        n.hard_sigmoid(x),
        n.hard_silu(x),
        n.hard_tanh(x),
        n.elu(x),
        n.celu(x),
        n.selu(x),
        n.gelu(x),
        n.gelu(x, approximate=False),
        n.glu(x),
        n.squareplus(x),
        n.mish(x),
        n.sparse_plus(x),
        n.standardize(x),
        n.softmax(x),
        n.log_softmax(x),
        n.logsumexp(x, axis=1),
    )


@program("bf16[16,256]")
def activation_gradients(x):
    def loss(x):
        return (
            (jax.nn.gelu(x) + jax.nn.silu(x) * jax.nn.softplus(x) + jnp.tanh(x)).astype(f32).sum()
        )

    return jax.value_and_grad(loss)(x)


@program("f32[12,64]", "f32[12,64]")
def elementwise_gradients(x, y):
    def loss(x, y):
        return (
            jnp.arctan2(x, y) + jnp.hypot(x, y) ** 1.5 + jnp.log1p(x * x) * jnp.cosh(y) + lax.erf(x)
        ).sum()

    return jax.grad(loss, (0, 1))(x, y), jax.grad(lambda x: jnp.exp(jnp.sin(x)).sum())(x)


@program("bf16[64,128]", "f32[64,128]", "f16[64,128]")
def mixed_widths(a, b, c):
    s = a.astype(f32) * b + c.astype(f32)
    return s.astype(bf16), s.astype(f16) + c, (a * 2).astype(f32) - b, (a + c.astype(bf16)).sum(0)


@program("f32[8,128]", "f32[8,128]", "f32[8,128]", donate=(0, 2))
def donated_elementwise(x, y, z):
    return x + y, z * y
