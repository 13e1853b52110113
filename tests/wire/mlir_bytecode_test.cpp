#include "mlir_samples.h"
#include "wire/stablehlo/from_module.h"
#include "wire/wire.h"

namespace hilo::mlir {
namespace {

TEST(MlirBytecode, IsTheProgramOfTheText) {
  const auto program = bytecode(loop_bytecode);
  ASSERT_TRUE(program) << to_string(program.error());
  EXPECT_EQ(program->producer, "StableHLO_v1.17.0");
  EXPECT_EQ(dump_of(program), dump_of(text(loop_text)));
}

TEST(MlirBytecode, EveryOpHasItsByteAndLocation) {
  const auto program = bytecode(loop_bytecode);
  ASSERT_TRUE(program);
  for (const Operation& op : program->operations) {
    EXPECT_GT(op.position.offset, 0) << op.name;
    ASSERT_TRUE(op.location) << op.name;
    EXPECT_EQ((*program)[op.location].text, "loc.file") << op.name;
  }
}

TEST(MlirBytecode, WhatIsCutOffIsAnError) {
  for (size_t size = 0; size < loop_bytecode.size(); ++size)
    EXPECT_FALSE(bytecode(loop_bytecode.substr(0, size))) << size;
}

// What is damaged is refused with a byte, or still a program that can be walked.
TEST(MlirBytecode, DamageIsAnErrorOrAProgram) {
  int refused = 0, count = 0;
  for (size_t at = 0; at < loop_bytecode.size(); ++at)
    for (const int value : {0, 1, 2, 3, 0x55, 0x7f, 0x80, 0xfe, 0xff}) {
      std::string damaged = loop_bytecode;
      damaged[at] = static_cast<char>(value);
      const auto program = bytecode(damaged);
      ++count;
      if (program) {
        EXPECT_FALSE(dump_of(program).empty());
      } else {
        ++refused;
        EXPECT_NE(program.error().message.find("(byte "), std::string::npos)
            << program.error().message;
      }
    }
  EXPECT_GT(refused, count / 3);
}

// Varints of 9 bytes in the place of each byte: counts and indices of 2^60.
TEST(MlirBytecode, HugeCountsTakeNoMemory) {
  const std::string huge("\0\0\0\0\0\0\0\0\x10", 9);
  for (size_t at = 4; at < loop_bytecode.size(); ++at) {
    std::string damaged = loop_bytecode;
    damaged.replace(at, 1, huge);
    const auto program = bytecode(damaged);
    if (program) {
      EXPECT_FALSE(dump_of(program).empty());
    }
  }
}

TEST(MlirBytecode, VersionsOfTheFutureAndOtherFilesAreRefused) {
  std::string future = loop_bytecode;
  future[4] = 15;  // version 7
  const auto program = bytecode(future);
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().kind, ErrorKind::Unsupported);
  EXPECT_NE(program.error().message.find("version 7"), std::string::npos);
  EXPECT_EQ(program.error().place.file, "a.mlirbc");
  EXPECT_EQ(bytecode("HloModule m").error().kind, ErrorKind::Format);
  EXPECT_EQ(bytecode("").error().kind, ErrorKind::Format);
}

TEST(MlirBytecode, StableHloWithoutVersionsIsTheProgramOfTheText) {
  const auto program = bytecode(plain_bytecode);
  ASSERT_TRUE(program) << to_string(program.error());
  EXPECT_EQ(program->producer, "MLIR23.0.0git");
  EXPECT_EQ(dump_of(program), dump_of(text(plain_text)));
}

Result<Module> module_of(std::string_view bytes) {
  return read_module(std::as_bytes(std::span(bytes)));
}

TEST(MlirBytecode, StableHloThatIsCutShortIsRefused) {
  ASSERT_TRUE(module_of(plain_bytecode));
  for (size_t size = 0; size < plain_bytecode.size(); ++size)
    EXPECT_FALSE(module_of(std::string_view(plain_bytecode).substr(0, size))) << size;
}

TEST(MlirBytecode, DamagedStableHloIsAnErrorOrAModule) {
  const std::string huge("\0\0\0\0\0\0\0\0\x10", 9);
  size_t refused = 0;
  for (size_t at = 4; at < plain_bytecode.size(); ++at)
    for (const std::string& value : {std::string("\0", 1), std::string("\7"), huge}) {
      std::string damaged = plain_bytecode;
      damaged.replace(at, 1, value);
      const auto program = bytecode(damaged);
      refused += !program;
      if (program) {
        EXPECT_FALSE(dump_of(program).empty());
      }
      if (const auto module = module_of(damaged)) {
        EXPECT_TRUE(module->entry);
      }
    }
  EXPECT_GT(refused, plain_bytecode.size());
}

TEST(MlirBytecode, AStableHloOpThatIsNoneIsNamed) {
  std::string other = plain_bytecode;
  other.replace(other.find("compare"), 7, "compote");
  const auto module = module_of(other);
  ASSERT_FALSE(module);
  EXPECT_NE(to_string(module.error()).find("compote"), std::string::npos);
}

TEST(MlirBytecode, AnUnknownOpKeepsItsName) {
  std::string other = loop_bytecode;
  other.replace(other.find("add_v1"), 6, "add_v9");
  const auto program = bytecode(other);
  ASSERT_TRUE(program) << to_string(program.error());
  EXPECT_NE(dump_of(program).find("vhlo.add_v9"), std::string::npos);
}

TEST(MlirBytecode, QuantisedTypesAreThoseOfTheText) {
  const auto from = text(R"(func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 0.5:-3>>,
      %b: tensor<2x3x!quant.uniform<u8<1:200>:f32:1, {0.1:3, 0.2, 2.5:17}>>) { return })");
  ASSERT_TRUE(from) << to_string(from.error());
  const auto bytes = write_bytecode(*from, *release_of("1.17.0"));
  ASSERT_TRUE(bytes) << to_string(bytes.error());
  EXPECT_EQ(dump_of(bytecode(*bytes)), dump_of(from));
}

TEST(MlirBytecode, AValueThatIsNotThereNamesItsOp) {
  const std::string use("\x15\x03\x09\x03\x04", 5);  // of the last return: value 2
  const size_t at = loop_bytecode.find(use);
  ASSERT_NE(at, std::string::npos);
  std::string other = loop_bytecode;
  bool is_refused = false;
  for (size_t i = at; i < at + 16 && !is_refused; ++i) {
    other = loop_bytecode;
    other[i] = '\x7f';
    const auto program = bytecode(other);
    if (program || program.error().message.find("before it is defined") == std::string::npos)
      continue;
    is_refused = true;
    EXPECT_FALSE(program.error().place.op.empty());
  }
  EXPECT_TRUE(is_refused);
}

}  // namespace
}  // namespace hilo::mlir
