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

}  // namespace hilo::mlir
