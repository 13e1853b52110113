#include "target/canonicalize_convolutions.h"
#include "target/collapse_dims.h"
#include "target/complex_sums.h"
#include "target/declare_in_place.h"
#include "target/dynamic_dims.h"
#include "target/fold_operand_upcasts.h"
#include "target/function_tables.h"
#include "target/fuse_dot_producer_batches.h"
#include "target/fuse_dot_producer_rows.h"
#include "target/fuse_scalar_scatter.h"
#include "target/hoist_broadcast_slices.h"
#include "target/inline_fusions.h"
#include "target/merge_collectives.h"
#include "target/open_emitter.h"
#include "target/order_side_effects.h"
#include "target/padded_windows.h"
#include "target/products.h"
#include "target/reduced_reshapes.h"
#include "target/remove_layout_copies.h"
#include "target/row_major.h"
#include "target/share_reshapes.h"
#include "target/split_concatenations.h"
#include "target/stated_aliasing.h"
#include "target/target.h"

namespace hilo {
namespace {

Result<void> open_for_cpu() {
  HILO_DO(find_emitter());
  return {};
}

void get_cpu_ready() {
  try {
    if (const auto emitter = find_emitter()) emitter->open();
  } catch (const std::bad_alloc&) {  // who compiles is told of it
  }
}

Result<Code> emit_for_cpu(const Module& module, const Plan& plan, const EmitOptions& options) {
  HILO_TRY(const Emitter emitter, find_emitter());
  Result<Code> out = fail(ErrorKind::Unsupported, "not emitted");
  emitter.emit(module, plan, options, out);
  return out;
}

// Beside those of pass/passes.def.
constexpr Pass own_passes[] = {
    {"forget-aliasing", "forgets what another back end wrote over what", forget_stated_aliasing},
    {"dynamic-dimension-inference", "marks all dimensions that are dynamic", mark_dynamic_dims},
    {"row-major", "arrays lie dense, in the order of their dimensions", put_in_row_major},
    {"inline-fusions", "inlines fusions that suit another chip", inline_fusions},
    {"remove-layout-copies", "leaves out copies to other layouts and memories",
     remove_layout_copies},
    {"merge-collectives", "does a repeated collective once", merge_collectives},
    {"order-side-effects", "keeps the order of what devices do together", order_side_effects},
    {"canonicalize-convolutions-for-loops", "convolutions with features innermost, or as products",
     canonicalize_convolutions_for_loops},
    {"expand-small-dots", "products with small matrices as sums", expand_small_dots},
    {"batched-products", "products in the middle of an array as batches", make_products_batched},
    {"padded-windows", "windows see what arrays are padded with", pad_by_windows},
    {"complex-sums", "sums of complex numbers are those of their parts", sum_complex_parts},
    {"function-tables", "costly functions of 16 bits are read from tables", tabulate_functions},
    {"split-concatenations", "what is made of joined arrays is made of each", split_concatenations},
    {"hoist-broadcast-slices", "computes only the slice that is broadcast", hoist_broadcast_slices},
    {"reduced-reshapes", "rows that are reduced are elementwise ops of reshaped arrays",
     reshape_before_elementwise},
    {"merged-columns", "short columns that a reduction keeps are one with those beside them",
     merge_columns_of_reductions},
    {"fold-operand-upcasts", "products read narrow floats as they are", fold_operand_upcasts},
    {"sliced-products", "slices go into the products that read them", fuse_sliced_products},
    {"transpose-operands", "transposes operands of small products for loops", transpose_operands},
    {"fuse-dot-producer-rows", "computes rows of a product's operand inside the product",
     fuse_dot_producer_rows},
    {"fuse-dot-producer-batches", "computes batches of a product's operands inside the product",
     fuse_dot_producer_batches},
    {"fuse-scalar-scatter", "a scattered scalar needs no array", fuse_scalar_scatter},
    {"collapse-dims", "joins dimensions that stay side by side", collapse_dims},
    {"share-reshapes", "one reshape for all readers", share_reshapes},
    {"declare-in-place", "rows, and elements in other dimensions, may be written over what is read",
     declare_in_place}};

constexpr std::string_view pipeline =
    "forget-aliasing, dynamic-dimension-inference, row-major, async-to-sync, explicit-converts, "
    "inline-fusions, "
    "remove-layout-copies, merge-collectives, "
    "order-side-effects, dilated-convolution-expander, canonicalize-convolutions-for-loops, "
    "expand-small-dots, "
    "batched-products, call-inliner, complex-sums, simplify, vector-product-expander, "
    "padded-windows, function-tables, cse, constant-folding, reuse-relu-mask, "
    "split-concatenations, hoist-broadcast-slices, reduced-reshapes, merged-columns, "
    "reduction-splitter, "
    "long-product-splitter, "
    "fold-operand-upcasts, narrow-operand-upcaster, sliced-products, transpose-operands, "
    "spaced-slices-to-gather, "
    "fusion, fuse-scalar-scatter, fuse-dot-producer-rows, fuse-dot-producer-batches, "
    "declare-in-place, collapse-dims, share-reshapes, "
    "loop-double-buffer, copy-insertion";

PassOptions options_for_cpu(const Machine& machine) {
  PassOptions out;
  out.machine = &machine;
  // Products are kernels of their own.
  out.fusion = {.products = false,
                .gathers = true,
                .scalars = true,
                .complex = true,
                .several_reduced = true,
                .windows = true,
                .slabs = true,
                .scheduled = true};
  return out;
}

Result<void> prepare_for_cpu(Module& module, const Machine& machine,
                             const PrepareOptions& options) {
  const std::vector<Pass> passes = passes_of(cpu_target());
  HILO_TRY(const Pipeline steps, parse_pipeline(pipeline, passes, all_pipelines()));
  PassOptions pass = options_for_cpu(machine);
  pass.supplied_calls = options.supplied_calls;
  HILO_DO(run_pipeline(module, steps, {.pass = std::move(pass), .observer = options.observer}));
  return {};
}

// Code knows where the parts of tuples are: their tables of pointers are never made.
const Machine* cpu_machine() {
  static const Machine machine = [] {
    Machine out = *find_machine("cpu");
    out.pointer_bytes = 0;
    return out;
  }();
  return &machine;
}

}  // namespace

const Target& cpu_target() {
  static constexpr Target target = {.name = "cpu",
                                    .description = "this machine's processor, by LLVM",
                                    .machine = cpu_machine,
                                    .own_passes = own_passes,
                                    .pipeline = pipeline,
                                    .pass_options = options_for_cpu,
                                    .prepare = prepare_for_cpu,
                                    .open = open_for_cpu,
                                    .get_ready = get_cpu_ready,
                                    .emit = emit_for_cpu};
  return target;
}

std::vector<Pass> passes_of(const Target& target) {
  std::vector<Pass> out(target.own_passes.begin(), target.own_passes.end());
  out.insert(out.end(), all_passes().begin(), all_passes().end());
  return out;
}

std::vector<NamedPipeline> pipelines_of(const Target& target) {
  std::vector<NamedPipeline> out(all_pipelines().begin(), all_pipelines().end());
  out.push_back(
      {target.name, "what the compiler for this machine's processor runs", target.pipeline});
  return out;
}

}  // namespace hilo
