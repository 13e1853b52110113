#include "tools/run_options.h"

#include <filesystem>
#include <limits>

namespace hilo::tools {
namespace {

constexpr int max_devices = 1 << 16;  // each is a thread

void add_observe_options(Arguments& arguments, ObserveOptions& options, const Option& runs) {
  arguments
      .add_option("--print-values", options.print_values,
                  "print these instructions' values; uses --device=eval")
      .separated_by(',')
      .excludes(runs);
  arguments
      .add_flag(
          "--check-numerics", options.check_numerics,
          "find the first NaN or infinity: instruction, index, source line; uses --device=eval")
      .excludes(runs);
  arguments.add_flag(
      "--profile", options.profile,
      "time and bytes by op, by source line and by collective; of compiled code also "
      "the part of what this machine can do");
  arguments.add_option("--trace", options.trace,
                       "write the times of all steps for ui.perfetto.dev");
}

struct InputsGiven {
  Option file, specs;
};
InputsGiven add_input_options(Arguments& arguments, RunOptions& options) {
  const Option inputs = arguments.add_option("--inputs", options.inputs.file,
                                             "arrays in_I or in_I_devD: .npz or .safetensors");
  const Option input =
      arguments.add_option("--input", options.inputs.specs,
                           "one array of the parameters: 4x8xf32=0.5, 3xs32=[1 2 3], @x.npy, "
                           "2x2xf32=@x.bin; NUMBER=, NAME= or NAME@DEVICE= before it says which");
  arguments.add_option("--seed", options.inputs.seed, "of the random values for what is not given");
  arguments.add_option("--expected", options.expected, "compare with arrays out_I or out_I_devD");
  arguments.add_option("--rtol", options.rtol,
                       "with --expected: allowed |difference| / |expected|. Without --rtol and "
                       "--atol: 1e-4, or 5e-2 where the module has floats narrower than f32, of "
                       "|expected| + its maximum");
  arguments.add_option("--atol", options.atol, "with --expected: allowed |difference|");
  arguments.add_option("--save", options.save,
                       "write the outputs to an .npz, a .safetensors or, a single one, a .npy; of "
                       "several processes each writes its own where the name has {rank}");
  return {inputs, input};
}

void add_only_options(Arguments& arguments, RunOptions& options, const InputsGiven& given) {
  const Option only = arguments.add_option("--only", options.only,
                                           "run one instruction, fusion or computation alone, on "
                                           "the values that it gets in a run of the "
                                           "module on --inputs or --input, or on random ones");
  arguments
      .add_option("--operands", options.operands.file,
                  "with --only: its own operands, arrays in_I or in_I_devD")
      .needs(only)
      .excludes(given.file)
      .excludes(given.specs);
  arguments
      .add_option("--operand", options.operands.specs, "with --only: one of them, as for --input")
      .needs(only)
      .excludes(given.file)
      .excludes(given.specs);
}

}  // namespace

void add_run_options(Arguments& arguments, RunOptions& options, Session& session) {
  arguments.add_option("FILE", options.file, "a module in any form, a dump folder, or -")
      .required();
  add_stage_options(arguments, options.stage);
  const InputsGiven given = add_input_options(arguments, options);
  arguments
      .add_option("--device", options.device,
                  "cpu: machine code; eval: the evaluator; reference: the evaluator with obvious "
                  "loops for every op, slow. Without: cpu, or eval where another option needs it")
      .one_of({"cpu", "eval", "reference"});
  arguments
      .add_option("--float", options.float_type,
                  "f64: hold f16, bf16, f32 and complex in f64, without rounding between; uses "
                  "--device=eval")
      .one_of({"native", "f64"});
  arguments
      .add_option("--matmul-precision", options.matmul_precision,
                  "bf16, tf32 or f32: what a TPU's or GPU's default would give; other than f32 "
                  "uses --device=eval")
      .one_of({"bf16", "tf32", "f32"});
  const Option partitioned =
      arguments.add_flag("--partitioned", options.partitioned,
                         "shapes are those of one device, whatever the module says");
  arguments
      .add_flag("--unpartitioned", options.unpartitioned, "shapes are global: run on one device")
      .excludes(partitioned);
  arguments
      .add_option("--devices", options.devices, "virtual devices, instead of what the module names")
      .between(1, max_devices);
  add_process_options(arguments, options.processes);
  arguments.add_option("--threads", options.threads,
                       "threads; 0: HILO_THREADS, or all usable cores");
  arguments
      .add_option("--max-steps", options.max_steps,
                  "stop a while loop after so many iterations; uses --device=eval")
      .between(1, std::numeric_limits<int>::max());
  arguments.add_option("--timeout", options.timeout, "stop the run after so many seconds");
  arguments.add_option("--memory-limit", options.memory_limit, "refuse to need more: 16GiB, 512MB");
  arguments.add_option(
      "--custom-call", options.custom_calls,
      "TARGET=lib.so (see custom_call_abi.h), TARGET=operand (its operand, as of a "
      "marker) or TARGET=zeros");
  Option runs = arguments.add_option(
      "--runs", options.runs,
      "run it so often after one run to warm up, and show the median and the least time; "
      "those of --profile are the mean");
  runs.between(1, std::numeric_limits<int>::max());
  add_observe_options(arguments, options.observe, runs);
  add_only_options(arguments, options, given);
  arguments.add_flag(
      "--no-verify", options.no_verify,
      "check only what running rests on, such as shapes; not shardings and the like");
  const Option in_plan = arguments.add_flag(
      "--in-plan", options.in_plan,
      "keep values where a memory plan puts them: a wrong plan shows; uses --device=eval");
  arguments.add_option("--target", options.target, "with --in-plan: the chip to plan for")
      .needs(in_plan);
  arguments.add_flag("--dump-ir", options.dump_ir, "LLVM IR to standard error");
  add_compiler_options(arguments, options.compiler);
  arguments.add_flag("-q,--quiet", session.quiet,
                     "nothing but outputs, warnings and errors: no word on compiling");
  arguments.add_flag("--json", session.json, "one JSON document on standard output");
  arguments.footer(fmt::format(
      "{}"
      "Exit status 0: ran (and agrees); 1: an error; 2: wrong usage; 3: values differ.\n"
      "Examples:\n"
      "  hilo run module.txt --seed=1 --save out.npz\n"
      "  hilo run module.txt --inputs io.npz --expected io.npz\n"
      "  hilo run dump_folder/ --profile --trace=run.json\n"
      "  hilo run module.txt --device=eval --check-numerics\n"
      "  HILO_CACHE=$HOME/.cache/hilo hilo run module.txt --time-passes\n"
      "  hilo run module.txt --target-cpu=x86-64-v3 --dump-to=stages\n"
      "  hilo run module.txt --input=x=8x128xf32=1 --input=bias=@bias.npy\n"
      "  mpirun -n 4 hilo run module.txt --inputs io.npz --expected io.npz\n"
      "  hilo run module.txt --only=fusion.12 --inputs io.npz   # on what it gets there\n"
      "  hilo run module.txt --only=fusion.12 --operand=8x128xf32=1",
      environment_help));
}

Result<std::map<std::string, CustomCallFunction>> load_custom_calls(
    const std::vector<std::string>& specs) {
  std::map<std::string, CustomCallFunction> out;
  std::error_code error;
  for (const std::string& spec : specs) {
    const size_t equals = spec.rfind('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == spec.size())
      return fail(ErrorKind::Usage,
                  "--custom-call={}: write TARGET=lib.so, TARGET=operand or TARGET=zeros", spec);
    const std::string target = spec.substr(0, equals);
    std::string library = spec.substr(equals + 1);
    // dlopen looks for a name without '/' elsewhere than in the current folder.
    if (!library.contains('/') && std::filesystem::is_regular_file(library, error))
      library = "./" + library;
    HILO_TRY(out[target], load_custom_call(target, library));
  }
  return out;
}

}  // namespace hilo::tools
