"""Modules that hold what real ones seldom do: each attribute of each op, each form of sharding,
literals of each type, layouts, strings. Each instruction stands in a module of its own with what it
needs. The random ones have fixed seeds. Nothing here needs to mean anything: it must read and print.
"""
import random
import re

COMPUTATIONS = """\
add { x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT r = f32[] add(x, y) }
greater { x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT r = pred[] compare(x, y), direction=GE }
negate { x = f32[] parameter(0)
  ROOT r = f32[] negate(x) }
square { x = f32[2,2] parameter(0)
  ROOT r = f32[2,2] multiply(x, x) }
never { x = f32[2,2] parameter(0)
  ROOT r = pred[] constant(false) }
reader { x = f32[2,2] parameter(0)
  ROOT r = f32[2,2] custom-call(x), custom_call_target="reader" }, execution_thread="host"
"""

INSTRUCTIONS = r"""
a = f32[2,2] parameter(0)
b = f32[2,2] parameter(1)
zero = f32[] constant(0)
index = s32[] constant(0)
truth = pred[] constant(true)
indices = s32[2] constant({0,1})
row = f32[2] broadcast(zero), dimensions={}
ready = token[] after-all()
state = u64[2] custom-call(), custom_call_target="state"
pair = (f32[2,2], f32[2,2]) tuple(a, b)
images = f32[1,3,3,2] custom-call(), custom_call_target="images"
kernel = f32[2,2,2,2] custom-call(), custom_call_target="kernel"
third = f32[2,2] parameter(2), parameter_replication={true}, backend_config="abc\n\"'q"
meta = f32[2,2] copy(a), metadata={op_type="t" op_name="n\"q'\\" source_file="f" source_line=3 source_end_line=4 source_column=5 source_end_column=6 profile_type={1} deduplicated_name="d" scheduling_name="s" metadata_payload="p"}
bytes = f32[2,2] copy(a), metadata={op_name="\t\001\303\251\177"}
all = f32[2,2] add(a, b), origin={{"a"}}, metadata={op_name="x"}, backend_config="q", sharding={replicated}, control-predecessors={a, zero}, frontend_attributes={z="1",a={k="v"}}, statistics={visualizing_index=1,b=2,c=0.25}
json = f32[2,2] custom-call(a), custom_call_target="t", backend_config={ "a" : 1 , "b":"q\"x}", "c":{"d":[1,2]}}
quoted_json = f32[2,2] custom-call(a), custom_call_target="t", backend_config="{\"a\":1}"
unbalanced = f32[2,2] custom-call(a), custom_call_target="t", backend_config="{unbalanced"
empty_json = f32[2,2] custom-call(a), custom_call_target="t", backend_config={}
loose = f32[2,2] exponential(a), result_accuracy={tolerance={atol=1,rtol=0.5,ulps=2}}
exact = f32[2,2] exponential(a), result_accuracy={mode=highest}
from = (f32[2,2], f32[2,2]) tuple(a, b), origin={({"a"}, {"b" {1}})}
dot_plain = f32[2,2] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
dot_precise = f32[2,2] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={highest,default}, algorithm=dot_bf16_bf16_f32_x3
dot_default = f32[2,2] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={default,default}
dot_batch = f32[2] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}
dot_scaled = f32[2,2] scaled-dot(a, b, zero, zero), lhs_contracting_dims={1}, rhs_contracting_dims={0}
groups = f32[1,2,2] reshape(b)
sizes = s32[1] constant({2})
dot_ragged = f32[2,2] ragged-dot(a, groups, sizes), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}
conv = f32[2,2] convolution(a, b), dim_labels=bf_io->bf
conv_window = f32[1,3,3,2] convolution(images, kernel), window={size=2x2 stride=2x1 pad=1_0x1_-1 lhs_dilate=1x2 rhs_dilate=2x1 rhs_reversal=1x0}, dim_labels=b01f_01io->b01f, operand_precision={highest,highest}
conv_kind = f32[2,2] convolution(a, b), dim_labels=bf_io->bf, convolution_kind=wgrad
conv_groups = f32[2,2] convolution(a, b), dim_labels=bf_io->bf, feature_group_count=2, batch_group_count=2
conv_sparse = f32[2,2] convolution(a, b), dim_labels=bf_io->bf, sparsity_config={lhs={sparsity=2x4 dimension=1 stride=1}}
all_reduce = f32[2,2] all-reduce(a), use_global_device_ids=true, channel_id=3, replica_groups={{0,1},{2,3}}, to_apply=add, constrain_layout=true
all_reduce_bare = f32[2,2] all-reduce(a), to_apply=add
groups_none = f32[2,2] all-reduce(a), replica_groups={}, to_apply=add
groups_iota = f32[2,2] all-reduce(a), replica_groups=[2,4]<=[4,2]T(1,0), to_apply=add
groups_mesh = f32[2,2] all-reduce(a), replica_groups=mesh['x'=2,'y'=4] {'x','y'}, to_apply=add
groups_part = f32[2,2] all-reduce(a), replica_groups=mesh['x'=2,'y'=4], device_ids=([4,2]T(1,0)) {'y':(2)2}, to_apply=add
channel_0 = f32[2,2] all-reduce(a), replica_groups=[1,2]<=[2], channel_id=0, to_apply=add
all_gather = f32[4,2] all-gather(a), use_global_device_ids=true, channel_id=3, replica_groups=[1,2]<=[2], dimensions={0}, constrain_layout=true
reduce_scatter = f32[1,2] reduce-scatter(a), use_global_device_ids=true, channel_id=3, replica_groups=[1,2]<=[2], dimensions={0}, constrain_layout=true, to_apply=add
all_to_all = f32[2,2] all-to-all(a), channel_id=3, replica_groups=[1,2]<=[2], dimensions={0}, constrain_layout=true
all_to_all_tuple = (f32[2,2], f32[2,2]) all-to-all(a, b), replica_groups={{0,1}}
ragged_all_to_all = f32[2,2] ragged-all-to-all(a, b, indices, indices, indices, indices), replica_groups={{0,1}}, channel_id=7
to_all = f32[2,2] collective-broadcast(a), channel_id=3, replica_groups={{0,1}}
permute = f32[2,2] collective-permute(a), channel_id=3, source_target_pairs={{0,1},{1,0}}
permute_start = (f32[2,2], f32[2,2]) collective-permute-start(a), source_target_pairs={}
gather_start = (f32[2,2], f32[2,2]) all-gather-start(a), dimensions={0}, replica_groups={}
gather_done = f32[2,2] all-gather-done(gather_start)
reduce_start = f32[2,2] all-reduce-start(a), to_apply=add, replica_groups={}
reduce_done = f32[2,2] all-reduce-done(reduce_start)
offsets = (s32[], s32[]) tuple(index, index)
permute_slices = f32[2,2] collective-permute(a, b, offsets, offsets), source_target_pairs={{0,1}}, slice_sizes={{1,2},{1,2}}
call_plain = f32[2,2] call(a), to_apply=square
call_composite = f32[2,2] call(a), to_apply=square, is_composite=true, frontend_attributes={composite.name="a.b",composite.version="1",composite.attributes={n=1}}
if_else = f32[2,2] conditional(truth, a, b), true_computation=square, false_computation=square
branches = f32[2,2] conditional(index, a, b), branch_computations={square, square}
loop = f32[2,2] while(a), condition=never, body=square
fused = f32[2,2] fusion(a), kind=kLoop, calls=square, output_to_operand_aliasing={{}: (0, {})}
fused_custom = f32[2,2] fusion(a), kind=kCustom, calls=square
custom_all = f32[2,2] custom-call(a, b), custom_call_target="x'\"", window={size=1x1 stride=2x2}, dim_labels=bf_io->bf, feature_group_count=2, batch_group_count=2, operand_layout_constraints={f32[2,2]{1,0}, f32[2,2]{0,1}}, custom_call_has_side_effect=true, literal=f32[2]{0} {1, 2}, padding_type=PADDING_SAME, schedule=SCHEDULE_LATEST, api_version=API_VERSION_TYPED_FFI
custom_calls = f32[2,2] custom-call(a, b), custom_call_target="x", called_computations={square, never}, operand_precision={high,default}
custom_call_one = f32[2,2] custom-call(a, b), custom_call_target="x", to_apply=square, schedule=SCHEDULE_EARLIEST, api_version=API_VERSION_STATUS_RETURNING
custom_layouts = f32[2,2] custom-call(), custom_call_target="x", operand_layout_constraints={}, api_version=API_VERSION_ORIGINAL
custom_alias = (f32[2,2], f32[2,2]) custom-call(a, b), custom_call_target="t", output_to_operand_aliasing={{0}: (1, {}), {1}: (0, {})}
compare_total = pred[2,2] compare(a, b), direction=LT, type=TOTALORDER
solve = f32[2,2] triangular-solve(a, b), lower=true, left_side=true, unit_diagonal=true, transpose_a=TRANSPOSE
solve_plain = f32[2,2] triangular-solve(a, b), transpose_a=NO_TRANSPOSE
root_lower = f32[2,2] cholesky(a), lower=true
root_upper = f32[2,2] cholesky(a)
element = f32[2,2] get-tuple-element(pair), index=1
reduced = f32[2] reduce(a, zero), to_apply=add, dimensions={0}
windowed = f32[2,2] reduce-window(a, zero), to_apply=add, window={size=1x1 pad=0_0x1_-1}
windowed_row = f32[2] reduce-window(row, zero), to_apply=add, window={size=2 stride=1 pad=1_0 lhs_dilate=1 rhs_dilate=1 rhs_reversal=0}
mapped = f32[2] map(row), to_apply=negate, dimensions={0}
padded = f32[4,2] pad(a, zero), padding=1_1x0_0
padded_inside = f32[5,2] pad(a, zero), padding=1_1_1x0_0
padded_less = f32[1,2] pad(a, zero), padding=-1_0x0_0
sliced = f32[1,1] slice(a), slice={[0:1], [0:2:2]}
sliced_plain = f32[1,2] slice(a), slice={[0:1], [0:2]}
rounded = f32[2,2] reduce-precision(a), exponent_bits=5, mantissa_bits=3
async_plain = ((f32[2,2]), f32[2,2], u32[]) negate-start(a)
async_going = ((f32[2,2]), f32[2,2], u32[]) negate-update(async_plain)
async_end = f32[2,2] negate-done(async_going)
async_host = ((f32[2,2]), f32[2,2], u32[]) custom-call-start(a), async_execution_thread="host", custom_call_target="foo", metadata={op_name="o"}
async_host_end = f32[2,2] custom-call-done(async_host)
async_named = ((f32[2,2]), f32[2,2], u32[]) async-start(a), calls=square, output_to_operand_aliasing={{}: (0, {})}
async_named_end = f32[2,2] async-done(async_named)
async_reader = ((f32[2,2]), f32[2,2], u32[]) async-start(a), calls=reader, async_execution_thread="host"
async_reader_end = f32[2,2] async-done(async_reader)
counted = f32[2,3] iota(), iota_dimension=1
uniform = f32[2] rng(zero, zero), distribution=rng_uniform
bits = (u64[2], u32[2]) rng-bit-generator(state), algorithm=rng_philox
next_state = u64[2] rng-get-and-update-state(), delta=2
sent = (f32[2,2], u32[], token[]) send(a, ready), channel_id=4, is_host_transfer=true
sent_done = token[] send-done(sent), channel_id=4, is_host_transfer=true
got = (f32[2,2], u32[], token[]) recv(ready), channel_id=1
got_done = (f32[2,2], token[]) recv-done(got), channel_id=1
fed = ((f32[2]), token[]) infeed(ready), infeed_config="a\"b"
out_plain = token[] outfeed(a, ready), outfeed_shape=f32[2,2]{0,1}
out = token[] outfeed(pair, ready), outfeed_config="ab", outfeed_shape=(f32[2,2]{1,0}, f32[2,2]{1,0})
picked = f32[2,2] select-and-scatter(a, b, zero), select=greater, scatter=add, window={size=1x1 stride=1x1}
sorted = f32[2,2] sort(a), dimensions={0}, is_stable=true, to_apply=greater
top = (f32[2,2], s32[2,2]) topk(a), k=2, largest=true
bottom = (f32[2,2], s32[2,2]) topk(a), k=2, largest=false
gathered = f32[2,2] gather(a, index), offset_dims={0,1}, collapsed_slice_dims={}, start_index_map={0}, index_vector_dim=0, slice_sizes={2,2}, indices_are_sorted=true
gathered_batch = f32[2,2] gather(a, indices), offset_dims={1}, collapsed_slice_dims={}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=1, slice_sizes={1,2}
scattered = f32[2,2] scatter(a, index, b), update_window_dims={0,1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=add, indices_are_sorted=true, unique_indices=true
scattered_batch = f32[2,2] scatter(a, indices, b), update_window_dims={1}, inserted_window_dims={}, scatter_dims_to_operand_dims={1}, input_batching_dims={0}, scatter_indices_batching_dims={0}, index_vector_dim=1, to_apply=add
scanned = f32[2,2] scan(a, row), to_apply=add, dimensions={0}, num_carries=1, is_reverse=true, is_associative=true
scanned_plain = f32[2,2] scan(a, row), to_apply=add, dimensions={0}, num_carries=1
normal = (f32[2,2], f32[2], f32[2]) batch-norm-training(a, row, row), epsilon=0.001, feature_index=1
normal_small = f32[2,2] batch-norm-inference(a, row, row, row, row), epsilon=1e-05, feature_index=1
waves = c64[2,2] complex(a, b)
fourier = c64[2,2] fft(waves), fft_type=IFFT, fft_length={2,2}
border = f32[2,2] domain(a), domain={kind="sharding", entry={replicated}, exit={maximal device=1}}
prefetch = (f32[2,2], f32[2,2], u32[]) copy-start(a), cross_program_prefetch_index=0
copied = (f32[2,2], f32[2,2], u32[]) copy-start(a)
copied_done = f32[2,2] copy-done(copied)
part = f32[1,1] dynamic-slice(a, index, index), dynamic_slice_sizes={1,1}
put = f32[2,2] dynamic-update-slice(a, b, index, index)
shorter = f32[<=2,2] set-dimension-size(a, index), dimensions={0}
size = s32[] get-dimension-size(a), dimensions={1}
flat = f32[<=4] dynamic-reshape(a, index)
flat_inferred = f32[<=4] reshape(shorter), inferred_dimension=0
turned = f32[2,2] transpose(a), dimensions={1,0}
joined = f32[4,2] concatenate(a, b), dimensions={0}
mirrored = f32[2,2] reverse(a), dimensions={0,1}
random_convert = u32[2] stochastic-convert(row, row)
buffer = b(f32[2]) custom-call(row), custom_call_target="t"
opaque_value = opaque[] custom-call(), custom_call_target="t"
unbounded = f32[?,2] custom-call(), custom_call_target="t"
nothing = () tuple()
nested = (f32[2,2], (), (f32[], f32[], f32[], f32[], f32[], f32[])) custom-call(), custom_call_target="t"
many = (f32[2,2], f32[], f32[], f32[], f32[], f32[], f32[]) tuple(a, zero, zero, zero, zero, zero, zero)
tiled = f32[2,2]{1,0:T(8,128)(2,1)E(32)S(1)} copy(a)
combined = f32[2,2]{1,0:T(*,128)L(3)SC(0:1,2)M(8)} copy(a)
flag = f32[]{:S(2)} copy(zero)
tuple_literal = (f32[], s32[2], (pred[])) constant((1,{2,3},(true)))
empty_literal = s32[2,0,3] constant({{},{}})
empty_row = s32[0,2] constant({})
"""

SHARDINGS = """
replicated|maximal device=3|manual|unknown|unreduced|maximal_mesh[device_id=3]|
devices=[2,1]0,1|devices=[2,1]<=[2]|devices=[2,1,2]<=[4] last_tile_dim_replicate|
devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate|
devices=[2,1,2,2]<=[8] last_tile_dims={manual, replicated}|
devices=[2,1,2]0,1,3,2 last_tile_dim_replicate shard_as 3|
devices=[2,2]0,1,2,3 shard_like 3 metadata={op_name="a" source_line=3}|
replicated metadata={{op_name="a"}, {op_name="b"}}|replicated shard_as 3 metadata={op_name="x"}|
unreduced metadata={op_type="sdy::reduction_op" op_name="MAX"}|
mesh['x'=2,'y'=4], [{'x'}, {'y', ?}]|mesh['x'=2,'y'=4], [{'x'}, {?}], replicated={'y'}|
mesh['x'=2,'y'=4], [{'x'}, {}], unreduced={'y'}|
mesh['x'=2,'y'=4], [{'y':(2)2}, {}], unreduced={'x'}, manual={'y':(1)2}|
mesh['x'=2,'y'=4], device_ids=([4,2]T(1,0)), [{'x'}, {}]|
mesh['x'=2,'y'=2], device_ids=(0,2,1,3), [{'x'}, {}]|mesh['x'=2,'y'=4], [{'x', 'y'}, {}]|
mesh['x'=2,'y'=2], replicated|mesh['x'=2,'y'=2], manual|mesh['x'=2,'y'=2], unreduced|
mesh['x'=2,'y'=4], [{'x'}, {}], metadata={op_name="x"}
"""

HEADERS = [
    "is_scheduled=true, input_output_alias={ {}: (0, {}, must-alias) }",
    "input_output_alias={ {}: (0, {}, may-alias) }, alias_passthrough_params=true",
    "buffer_donor={ (1, {}), (0, {}) }",
    "entry_computation_layout={(f32[2,2]{0,1}, f32[2,2]{1,0:T(8,128)})->f32[2,2]{1,0}}",
    "allow_spmd_sharding_propagation_to_parameters={true,false}, num_partitions=4",
    "allow_spmd_sharding_propagation_to_output={true}, replica_count=2",
    'frontend_attributes={b="x\\"",a={q=1}}',
]
MAIN = "ENTRY e {\n  a = f32[2,2] parameter(0)\n  b = f32[2,2] parameter(1)\n" \
       "  ROOT r = f32[2,2] add(a, b)\n}\n"

INTEGERS = {"s4": (-8, 7), "u4": (0, 15), "s8": (-128, 127), "u8": (0, 255), "s16": (-(2**15), 2**15 - 1),
            "s32": (-(2**31), 2**31 - 1), "u32": (0, 2**32 - 1), "s64": (-(2**63), 2**63 - 1),
            "u64": (0, 2**64 - 1), "pred": (0, 1)}
FLOATS = {"f64": 1e300, "f32": 3e38, "f16": 65000, "bf16": 3e38, "f8e5m2": 50000, "f8e4m3fn": 440,
          "f8e4m3": 240, "f8e3m4": 15, "f8e4m3b11fnuz": 30, "f8e5m2fnuz": 50000, "f8e4m3fnuz": 240,
          "f4e2m1fn": 6}


def definitions():
    out = {}
    for line in INSTRUCTIONS.strip().split("\n"):
        out[line.split(" = ")[0]] = line
    return out


def closure(name, known, out):
    """The names that `name` needs, each after those that it needs itself."""
    for word in re.findall(r"[\w.]+", known[name].split(" = ", 1)[1]):
        if word in known and word != name and word not in out:
            closure(word, known, out)
    if name not in out:
        out.append(name)
    return out


def module_around(name, known):
    needed = ["a", "b"]
    closure(name, known, needed)
    body = "\n".join("  " + known[need] for need in needed)
    return f"HloModule odd\n{COMPUTATIONS}ENTRY e {{\n{body}\n  ROOT root_of_all = f32[2,2] add(a, b)\n}}\n"


def one_instruction(shape, operation):
    return f"HloModule odd\nENTRY e {{\n  p = f32[2,2] parameter(0)\n  ROOT r = {shape} {operation}\n}}\n"


def random_float(choice, largest):
    kind = choice.randrange(8)
    if kind == 0:
        return choice.choice(["0", "-0", "1", "-1.5"])
    if kind == 1:
        return repr(choice.uniform(-largest, largest))
    if kind == 2:
        return repr(choice.uniform(-1, 1) * 10.0 ** choice.randint(-30, 0))
    return repr(round(choice.uniform(-10, 10), choice.randint(0, 12)))


def random_value(choice, kind):
    if kind == "pred":
        return choice.choice(["true", "false", "1", "0"])
    if kind in INTEGERS:
        return str(choice.randint(*INTEGERS[kind]))
    if kind in ("c64", "c128"):
        part = "f32" if kind == "c64" else "f64"
        return f"({random_value(choice, part)}, {random_value(choice, part)})"
    if choice.random() < 0.05 and kind in ("f64", "f32", "f16", "bf16", "f8e5m2"):
        return choice.choice(["inf", "-inf", "nan", "-nan", "nan(0x1)"])
    return random_float(choice, FLOATS[kind])


def random_array(choice, kind, dims):
    if not dims:
        return random_value(choice, kind)
    inner = [random_array(choice, kind, dims[1:]) for _ in range(dims[0])]
    return "{" + ", ".join(inner) + "}"


def random_literals(seed, count):
    choice = random.Random(seed)
    for number in range(count):
        kind = choice.choice([*INTEGERS, *FLOATS, "c64", "c128"])
        dims = [choice.randint(1, 3) for _ in range(choice.randint(0, 5))]
        order = list(range(len(dims)))
        choice.shuffle(order)
        shape = f"{kind}[{','.join(map(str, dims))}]"
        if order:
            shape += "{" + ",".join(map(str, order)) + "}"
        yield f"literal {seed}.{number}", one_instruction(
            shape, f"constant({random_array(choice, kind, dims)})")


def random_strings(seed, count):
    choice = random.Random(seed)
    for number in range(count):
        text = "".join(f"\\{choice.randrange(1, 256):03o}" for _ in range(choice.randint(1, 40)))
        yield f"string {seed}.{number}", one_instruction(
            "f32[2,2]", f'custom-call(p), custom_call_target="{text}", metadata={{op_name="{text}"}}')


def sharded():
    shardings = [text.strip() for text in SHARDINGS.replace("\n", "").split("|")]
    for text in shardings:
        yield f"sharding {text}", one_instruction("f32[2,2]", f"copy(p), sharding={{{text}}}")
    leaves = shardings[:4] * 2
    shape = "(" + ", ".join(["f32[2,2]"] * len(leaves)) + ")"
    inner = ", ".join("{" + text + "}" for text in leaves)
    operands = ", ".join(["p"] * len(leaves))
    yield "sharding of a tuple", one_instruction(shape, f"tuple({operands}), sharding={{{inner}}}")


# Whole texts that XLA's parser takes and nobody prints.
LOOSE_TEXTS = [
    "HloModule m:\nENTRY e { ROOT c = f32[] constant(1) }\n",
    "HloModule m: , is_scheduled=true\nENTRY e { ROOT c = f32[] constant(1) }\n",
    "HloModule m ENTRY e (x f32[2], y.1 s32[]) -> f32[2] { x = f32[2] parameter(0) "
    "y = s32[] parameter(1) ROOT n = f32[2] negate(x) }",
    "HloModule m\nENTRY e (%x f32[2]) -> f32[2] {\n  x = f32 [2] { 0 } parameter( 0 )\n"
    "  ROOT n = f32[ 2 ] negate( x, )\n}\n",
    "/* a */ HloModule /* b */ m // c\n/* d\n*/ ENTRY e { /* e */ ROOT c /* f */ = f32[] "
    "constant( /* g */ 1 // h\n) } // i\n",
    "ROOT foo = f32[10] add(f32[10] x, f32[10] x)",
    "foo = f32[2] add(f32[2] x, x), metadata={op_name='a', source_line=3}",
]
LOOSE_CONSTANTS = [
    ("f32[2,3]", "1.5"), ("bf16[17,22]", "1"), ("pred[2]", "true"), ("pred[2]", "false"),
    ("s32[3]", "7"), ("s32[2,2]", "-7"), ("f32[1,1]", "5"), ("f32[2,2]{0,1}", "1"),
    ("f8e4m3fn[2]", "1"), ("f32[3]", "inf"), ("f32[3]", "nan"), ("u64[]", "-1"),
    ("s64[]", "9223372036854775808"), ("pred[]", "-1"), ("pred[]", "2"), ("f32[]", "-.5"),
    ("f32[]", "1."), ("f32[2]", "{1 2}"), ("f32[2]", "{,1,,2,}"), ("f32[2,2]", "{{1 2},{3 4},}"),
    ("(f32[], s32[])", "(1 2)"), ("(f32[2], s32[])", "(1, 2)"), ("f32[2,0]", "{{},{}}"),
    ("f32[0]", "{}"), ("f64[]", "nan(0x123)"), ("f32[2]", "{ /*i0=0*/ 1,\n 2 // b\n }"),
]


def modules():
    """(name, text) of each module that needs nothing but this file."""
    known = definitions()
    for name in known:
        yield name, module_around(name, known)
    yield from sharded()
    for header in HEADERS:
        yield f"header {header}", f"HloModule odd, {header}\n{MAIN}"
    for number, text in enumerate(LOOSE_TEXTS):
        yield f"loose text {number}", text
    for shape, literal in LOOSE_CONSTANTS:
        yield (f"loose constant {shape} {literal}",
               f"HloModule m\nENTRY e {{\n  ROOT c = {shape} constant({literal})\n}}\n")
    yield from random_literals(1, 120)
    yield from random_strings(2, 10)


def jax_modules():
    """What jax itself lowers to."""
    import jax
    import jax.numpy as jnp

    def mlp(w, x):
        return jnp.tanh(x @ w).sum()

    def loop(x):
        return jax.lax.fori_loop(0, 5, lambda i, y: jnp.sin(y) * i, x)

    def sort(x):
        return jnp.sort(x), jnp.argsort(x), jax.lax.top_k(x, 3)

    def convolve(x, w):
        return jax.lax.conv_general_dilated(x, w, (2, 1), "SAME", rhs_dilation=(1, 2))

    def choose(x):
        return jax.lax.cond(x.sum() > 0, jnp.cos, jnp.sin, x), jnp.fft.rfft(x)

    def solve(a):
        return jnp.linalg.cholesky(a @ a.T), jnp.cumsum(a, 0), a.at[1].add(2.0), a[jnp.array([0, 1])]

    square, row = jnp.ones((8, 8)), jnp.ones(8)
    cases = {"mlp": (jax.grad(mlp), square, row), "loop": (loop, row), "sort": (sort, row),
             "convolve": (convolve, jnp.ones((1, 3, 8, 8)), jnp.ones((4, 3, 3, 3))),
             "choose": (choose, row), "solve": (solve, square),
             "random": (lambda key: jax.random.normal(key, (4, 4)), jax.random.PRNGKey(0))}
    for name, (function, *arguments) in cases.items():
        lowered = jax.jit(function).lower(*arguments)
        yield f"jax {name}", lowered.compiler_ir(dialect="hlo").as_hlo_text()
        yield f"jax {name}, compiled", lowered.compile().as_text()
