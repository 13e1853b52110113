// What the tests of both readers share: reading, hexadecimal, and one program in both forms.
#pragma once

#include <gtest/gtest.h>

#include "mlir_dump.h"

namespace hilo::mlir {

inline Result<Program> bytecode(std::string_view bytes) {
  return read_bytecode(std::as_bytes(std::span(bytes)), "a.mlirbc");
}
inline Result<Program> text(std::string_view program) { return read_text(program, "a.mlir"); }

inline std::string dump_of(const Result<Program>& program) {
  return program ? Dump(*program).text() : to_string(program.error());
}

// A function's body, for programs that need nothing else.
inline std::string in_main(std::string_view body) {
  return fmt::format(
      "func.func @main(%f: tensor<2x3xf32>, %g: tensor<3x4xf32>, %s: tensor<f32>, %i: tensor<i32>, "
      "%v: tensor<2xi64>, %c: tensor<2x3xcomplex<f32>>) {{\n{}\nreturn }}",
      body);
}

inline std::string from_hex(std::string_view hex) {
  std::string out;
  for (size_t i = 0; i < hex.size(); i += 2)
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return out;
}

inline constexpr std::string_view loop_text = R"(
module @m {
  func.func public @main(%a: tensor<2xf32>, %b: tensor<3xi1>) -> tensor<2xf32> {
    %0 = stablehlo.while(%x = %a) : tensor<2xf32>
    cond {
      %c = stablehlo.constant dense<true> : tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %y = stablehlo.add %x, %a : tensor<2xf32>
      stablehlo.return %y : tensor<2xf32>
    }
    return %0 : tensor<2xf32>
  }
})";
// The same, by serialize_portable_artifact at version 1.17.0.
inline const std::string loop_bytecode = from_hex(
    "4d4cef520d537461626c65484c4f5f76312e31372e3000011d0501050d01030b030b0f13171b1f0341250d011b0b"
    "130b13131313131317171313030b0b0b0b0b13030d1313070f1b0702a305111701052f0513170103031701031b17"
    "0103491701036f1701050f170107051701055602170105ea0217010579170105d1030123091d151d171f07030129"
    "03090b29030d050129010511050103030109049d050150070107048d0301050550090307047903070b05030b070d"
    "0007160f030103010903050b030303000b4217050307030419030903050b03030300090613030105070103041503"
    "090304110305060301050100bf190f0b0505190f1311150f0b116275696c74696e0076686c6f006d6f64756c6500"
    "72657475726e5f76310066756e635f7631007768696c655f7631006164645f763100636f6e7374616e745f763100"
    "2d006d006d61696e007075626c696300081907050b010b1b1d1b1f210323");

// StableHLO, CHLO and functions as they are: groups of attributes, and those that may be absent.
inline constexpr std::string_view plain_text = R"(
module @m {
  func.func public @main(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>) -> tensor<2x2xi1> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [HIGHEST, DEFAULT] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
    %1 = "stablehlo.all_reduce"(%0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %2 = func.call @f(%1) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %3 = stablehlo.compare LT, %0, %2, FLOAT : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
    return %3 : tensor<2x2xi1>
  }
  func.func private @f(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {
    %0 = chlo.erf %a : tensor<2x2xf32> -> tensor<2x2xf32>
    return %0 : tensor<2x2xf32>
  }
})";
// The same as MLIR writes it, by Operation.write_bytecode of jaxlib 0.10.2.
inline const std::string plain_bytecode = from_hex(
    "4d4cef520d4d4c495232332e302e30676974000131090105090d15010313030707171b05031f070b23272b2f1703"
    "6d4717013b0b0b0b130b0b0b130b0b13131313131313134f07130b13131313131313070d1f0b0b0f0b0b01171707"
    "0f1717171b0b17170f02b6020519051b051d170103030d0d051f0521170105070d11052317011b0717011b311701"
    "1d1517011f0b170105351701055f01053d3f17010715251321000000000000000001000000000000000f17010915"
    "090317011315170115151701170b17010b1517010b3717010d1917010f0f0b010103050301110511010305010703"
    "050b1b050909030b1b01031b05090d031b050d09031b0509090f05050709030b010905030103011b050509150102"
    "0404eb05015007010704db03010903500f03070493030d17050f1d131f000b46230503010501030d562907030103"
    "0507042d03070b050b330b35001106370305050103130439030507462d09030103070f462f0b030b050509050431"
    "030b0350150d07042703050b030317000906190301030105041b03030603010501000e0225110f0b050505091117"
    "19090b0f0f150b0b116275696c74696e0066756e630063686c6f00737461626c65686c6f006d6f64756c65007265"
    "7475726e0063616c6c0065726600646f745f67656e6572616c00616c6c5f72656475636500636f6d706172650061"
    "6464002d0066006d006d61696e007075626c696300707269766174650008450f050b010d010901010b1b07013b43"
    "0783254f09012b01010587450d011101010327");

}  // namespace hilo::mlir
