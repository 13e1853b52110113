"""Matrix products and convolutions of every form and type."""

import jax
import jax.numpy as jnp
from jax import lax

from families.registry import program

f32, bf16, f16, s8, s32 = jnp.float32, jnp.bfloat16, jnp.float16, jnp.int8, jnp.int32


@program("f32[72,200]", "f32[200,130]", "f32[130]")
def products_f32(a, b, v):
    return a @ b, a @ b + v, jnp.tanh(a @ b) @ v, a.T @ a, b @ b.T, jnp.vdot(a, a * 2)


@program("f32[128,256]", "f32[256,128]", precision="default")
def products_default_precision(a, b):
    return a @ b, jax.nn.relu(a @ b).sum(0)


@program("f32[64,128]", "f32[128,64]")
def products_of_precisions(a, b):
    kinds = ("BF16_BF16_F32", "BF16_BF16_F32_X3", "BF16_BF16_F32_X6", "DEFAULT")
    return [lax.dot(a, b, precision=k) for k in kinds] + [
        lax.dot(a, b, precision=p) for p in ("high", "default")
    ]


@program("bf16[64,256]", "bf16[256,128]", "bf16[128]")
def products_bf16(a, b, v):
    return (
        a @ b,
        lax.dot(a, b, preferred_element_type=f32),
        jax.nn.relu(a @ b + v),
        (a.T @ a)[:9],
        b @ v,
    )


@program("f16[48,96]", "f16[96,40]")
def products_f16(a, b):
    return a @ b, lax.dot(a, b, preferred_element_type=f32)


@program("s8[64,128]", "s8[128,96]", "s32[16,32]", "u8[32,64]")
def products_of_integers(a, b, n, u):
    return (
        lax.dot(a, b, preferred_element_type=s32),
        lax.dot(a - 4, b * 9, preferred_element_type=s32),
        n @ n.T,
        lax.dot(u, u.T, preferred_element_type=jnp.uint32),
    )


@program("s4[64,128]", "s4[128,128]", "bf16[16,128]")
def products_of_4_bits(a, b, x):
    return (
        lax.dot(a.astype(s8), b.astype(s8), preferred_element_type=s32),
        x @ b.astype(bf16),
        (a.astype(s8) - 4) @ jnp.ones((128, 8), s8),
    )


@program("f8e4m3fn[64,128]", "f8e4m3fn[128,128]", "f8e5m2[128,128]")
def products_fp8(a, b, c):
    return (
        lax.dot(a, b, preferred_element_type=f32),
        lax.dot(a, c.astype(bf16).astype(b.dtype), preferred_element_type=bf16),
        lax.dot(c, c, preferred_element_type=f32),
    )


@program("f32[32,64]", "f32[]", "bf16[64,128]")
def products_fp8_scaled(x, s, w):
    scale = jnp.abs(x).max() / 448 + s * 0
    q = (x / scale).astype(jnp.float8_e4m3fn)
    return lax.dot(q, w.astype(jnp.float8_e4m3fn), preferred_element_type=f32) * scale


@program("bf16[32,128]", "s8[128,256]", "f32[256]")
def products_quantised(x, w, scale):
    largest = jnp.abs(x).max(1, keepdims=True).astype(f32) / 127
    q = jnp.round(x.astype(f32) / largest).astype(s8)
    both = lax.dot(q, w, preferred_element_type=s32).astype(f32) * largest * scale
    return x @ (w.astype(bf16) * scale.astype(bf16)), both


@program("f32[4,6,20]", "f32[4,20,10]", "f32[6,7]")
def sums_of_einstein(a, b, c):
    e = jnp.einsum
    return (
        e("bij,bjk->bik", a, b),
        e("bij,bjk->ik", a, b),
        e("bij,ik->bkj", a, c),
        e("bij->j", a),
        e("bij,bij->b", a, a),
        e("bii->bi", b[:, :10]),
        e("bij,bjk,il->lk", a, b, c),
        e("ij,kl->ikjl", c, c),
        e("bij->jib", a),
        e("bjk,bjl->bkl", b, b),
    )


@program("bf16[2,4,16,32]", "bf16[2,4,24,32]", "bf16[32,3,16]")
def einsum_bf16(q, k, w):
    return (
        jnp.einsum("bhqd,bhkd->bhqk", q, k),
        jnp.einsum("bhqd,dnm->bhqnm", q, w),
        jnp.einsum("bhqd,bhkd->bqk", q, k),
    )


@program("f32[6,5,4]", "f32[4,5,7]", "f32[9]", "f32[3,4]")
def products_of_tensors(a, b, v, m):
    return (
        jnp.tensordot(a, b, ((2, 1), (0, 1))),
        jnp.outer(v, v),
        jnp.kron(m, m),
        jnp.inner(m, m),
        jnp.cross(m[:, :3], m[:, 1:]),
        jnp.matmul(a, b[:, 0]),
        jnp.linalg.multi_dot([m, m.T, m]),
        jnp.convolve(v, m[0]),
        jnp.vecdot(m, m),
        jnp.dot(a, b[:, :, 1]),
    )


@program("f32[300,400]", "f32[400]", "bf16[512,256]", "bf16[256]")
def products_with_vectors(a, x, b, y):
    return a @ x, x @ a.T, b @ y, (a * x).sum(1), lax.dot(y, b.T, preferred_element_type=f32)


@program("f32[32,64]", "f32[64,48]")
def product_gradients(a, b):
    return jax.grad(lambda a, b: (jax.nn.softmax(a @ b) ** 2).sum(), (0, 1))(a, b)


@program("f64[20,30]", "f64[30,10]", x64=True)
def products_f64(a, b):
    return a @ b, (a * a).sum(1) @ a


@program("c64[16,24]", "c64[24,12]")
def products_c64(a, b):
    return a @ b, jnp.vdot(a, a), jnp.einsum("ij,kj->ik", a, a.conj())


@program("f32[40,32]", "f32[4,32,24]", "s32[4]")
def products_ragged(x, w, n):
    return lax.ragged_dot(x, w, n + 2), lax.ragged_dot(
        x.astype(bf16), w.astype(bf16), n, precision="default"
    )


@program("f32[3,40,8]", "f32[5,8,16]", "f32[4,2,16]")
def convolutions_1d(x, w, g):
    numbers = ("NWC", "WIO", "NWC")

    def conv(w, step=(1,), padding="SAME", **more):
        return lax.conv_general_dilated(x, w, step, padding, dimension_numbers=numbers, **more)

    return (
        conv(w),
        conv(w, (2,), "VALID"),
        conv(w, rhs_dilation=(2,)),
        conv(w, padding=[(4, 0)]),
        conv(g, feature_group_count=4),
    )


@program("f32[2,18,20,8]", "f32[3,3,8,16]", "f32[16]")
def convolutions_2d(x, w, b):
    numbers = ("NHWC", "HWIO", "NHWC")

    def conv(step, padding, **more):
        return lax.conv_general_dilated(x, w, step, padding, dimension_numbers=numbers, **more)

    return (
        jax.nn.relu(conv((1, 1), "SAME") + b),
        conv((2, 2), "SAME"),
        conv((1, 1), "VALID", rhs_dilation=(2, 3)),
        conv((1, 1), [(2, 2), (2, 2)], lhs_dilation=(2, 2)),
    )


@program("f32[2,12,12,4]", "f32[3,3,4,8]")
def convolution_gradients(x, w):
    def loss(x, w):
        return (
            lax.conv_general_dilated(
                x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            ** 2
        ).sum()

    return jax.grad(loss, (0, 1))(x, w)


@program("f32[2,6,7,8,4]", "f32[3,3,3,4,8]")
def convolutions_3d(x, w):
    return lax.conv_general_dilated(
        x, w, (1, 2, 1), "SAME", dimension_numbers=("NDHWC", "DHWIO", "NDHWC")
    )


@program("f32[2,16,16,32]", "f32[3,3,1,32]", "f32[3,3,8,32]", "f32[3,3,1,64]")
def convolutions_in_groups(x, deep, grouped, twice):
    numbers = ("NHWC", "HWIO", "NHWC")

    def conv(w, n):
        return lax.conv_general_dilated(
            x, w, (1, 1), "SAME", dimension_numbers=numbers, feature_group_count=n
        )

    return (
        conv(deep, 32),
        conv(grouped, 4),
        conv(twice, 32),
        jax.grad(
            lambda w: (
                lax.conv_general_dilated(
                    x, w, (1, 1), "SAME", dimension_numbers=numbers, feature_group_count=32
                )
                ** 2
            ).sum()
        )(deep),
    )


@program("f32[2,8,9,16]", "f32[3,3,16,8]")
def convolutions_transposed(x, w):
    return lax.conv_transpose(x, w, (2, 2), "SAME"), lax.conv_transpose(x, w, (1, 2), "VALID")


@program("bf16[4,16,16,8]", "bf16[3,3,8,32]", "s8[2,10,10,8]", "s8[3,3,8,8]")
def convolutions_of_narrow_types(x, w, n, k):
    numbers = ("NHWC", "HWIO", "NHWC")
    return (
        lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=numbers),
        lax.conv_general_dilated(
            x, w, (2, 2), "VALID", dimension_numbers=numbers, preferred_element_type=f32
        ),
        lax.conv_general_dilated(
            n, k, (1, 1), "SAME", dimension_numbers=numbers, preferred_element_type=s32
        ),
    )


@program("f32[2,3,20,20]", "f32[8,3,5,5]")
def convolutions_channels_first(x, w):
    return (
        lax.conv(x, w, (1, 1), "SAME"),
        lax.conv(x, w, (3, 2), "VALID"),
        lax.conv_general_dilated_patches(x, (3, 3), (2, 2), "VALID"),
    )


@program("f32[8,12,12,4]", "f32[3,3,4,8]")
def convolutions_in_batch_groups(x, w):
    return lax.conv_general_dilated(
        x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), batch_group_count=2
    )
