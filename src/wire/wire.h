// Front door of `wire`: the forms of modules other than text, and files of arrays (.npy, .npz,
// .safetensors). Every reader takes what a stranger may have written: damage is an Error of kind
// Format, a size that cannot be is Limit.
#pragma once

#include <memory>

#include "ir/ir.h"
#include "text/text.h"

namespace hilo {

// Bytes that can be read at any place: a file, or memory that outlives the source.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual int64_t size() const = 0;
  // Fills `to` from `offset`; past the end is an Error.
  virtual Result<void> read_at(int64_t offset, std::span<std::byte> to) const = 0;

  static Result<std::shared_ptr<const ByteSource>> open(const std::string& path);
  static std::shared_ptr<const ByteSource> memory(std::span<const std::byte> bytes);
};
Result<std::string> read_whole_file(const std::string& path);
// Written beside `path` and renamed at the end: a failed save leaves the old file, or none.
Result<void> write_file(const std::string& path, std::string_view bytes);

struct NamedLiteral {
  std::string name;
  Literal literal;
};

// The same bits as the array type of `shape`, dimensions equal: an unsigned integer (or S8 for the
// signed types below a byte) read from a file that has no name for the type. A literal that has the
// type already comes back with the shape's layout. Else an Error of kind Input.
Result<Literal> reinterpret_as(const Literal& literal, const Shape& shape);

// .npy. Format: NumPy Enhancement Proposal 1, versions 1 to 3. Either byte order, C and Fortran
// order. Types that NumPy lacks are written as unsigned bits: bf16 as uint16, narrower ones one to
// a byte (s1, s2, s4 as int8). Read back: ml_dtypes' '<V2' and 'bfloat16' as bf16, '<V1' as u8.
Result<Literal> read_npy(const std::string& path);
Result<Literal> read_npy(std::span<const std::byte> bytes);
Result<void> write_npy(const std::string& path, const Literal& literal);

// .npz: a zip archive of .npy members, stored or deflated, zip64, with or without data descriptors.
// Checksums are checked. Holds one array at a time.
class NpzReader {
 public:
  static Result<NpzReader> open(const std::string& path);
  static Result<NpzReader> from(std::shared_ptr<const ByteSource> source);
  const std::vector<std::string>& names() const { return names_; }  // without ".npy", file order
  bool contains(std::string_view name) const;
  Result<Literal> read(std::string_view name) const;

 private:
  std::shared_ptr<const class ZipArchive> archive_;
  std::vector<std::string> names_;
};
Result<std::vector<NamedLiteral>> read_npz(const std::string& path);

// Arrays go to the file one after another; nothing is there under `path` before finish().
class NpzWriter {
 public:
  static Result<NpzWriter> create(const std::string& path, bool deflate = false);
  Result<void> add(std::string_view name, const Literal& literal);
  Result<void> finish();

 private:
  std::shared_ptr<class ZipWriter> zip_;
};
Result<void> write_npz(const std::string& path, std::span<const NamedLiteral> arrays,
                       bool deflate = false);

// .safetensors. Format: an 8-byte little-endian length, a JSON header, the data. Types without a
// name there are written as unsigned bits, like .npy; f4 is read from its packed form.
class SafetensorsReader {
 public:
  static Result<SafetensorsReader> open(const std::string& path);
  static Result<SafetensorsReader> from(std::shared_ptr<const ByteSource> source);
  const std::vector<std::string>& names() const { return names_; }  // in the order of the data
  bool contains(std::string_view name) const;
  Result<Literal> read(std::string_view name) const;

 private:
  std::shared_ptr<const struct SafetensorsIndex> index_;
  std::vector<std::string> names_;
};
Result<std::vector<NamedLiteral>> read_safetensors(const std::string& path);
Result<void> write_safetensors(const std::string& path, std::span<const NamedLiteral> arrays);

enum class Format : uint8_t {
  Detect,
  HloText,
  HloProto,      // binary HloModuleProto, or an HloProto around it
  HloProtoText,  // the same as protobuf's text
  HloProtoJson,  // the same as protobuf's JSON, fields named as in hlo.proto
  StableHloText,
  StableHloBytecode,  // MLIR bytecode of VHLO
  Npy,
  Npz,
  Safetensors,
  Gzip,  // of any of these
};
std::string_view text_of(Format format);
// By content alone. What nothing else claims is HLO text.
Format detect_format(std::span<const std::byte> bytes);

// A module in any form; a compressed one is unpacked first. `options` are for the text forms; the
// file's name also for the errors of the others. Malformed protos are Errors: Format (not a proto),
// Structure (ids, cycles, schedules, missing parts), Shape, Name, Limit, Unsupported.
// StableHLO may leave dimensions of main's arguments open ("?"): they are taken from
// `argument_shapes`, one an argument, and what follows from them is computed; else Unsupported.
Result<Module> read_module(std::span<const std::byte> bytes, Format format = Format::Detect,
                           const ParseOptions& options = {},
                           std::span<const Shape> argument_shapes = {});
// The same without a copy of a text that the module will keep.
Result<Module> read_module(std::shared_ptr<const std::string> bytes, Format format = Format::Detect,
                           const ParseOptions& options = {},
                           std::span<const Shape> argument_shapes = {});
Result<Module> read_module_file(const std::string& path, const ParseOptions& options = {},
                                std::span<const Shape> argument_shapes = {});

// HloModuleProto with XLA's field numbers. What XLA keeps outside of the module (replica_count and
// the like) stands in fields that XLA skips, so that reading it back gives the same module. Limit
// when it is larger than the 2 GiB that protobuf can hold.
Result<std::string> write_hlo_proto(const Module& module);
Result<std::string> write_hlo_proto_text(const Module& module);
Result<std::string> write_hlo_proto_json(const Module& module);
// One sharding as an OpSharding message, a shape as a ShapeProto: what a framework's functions are
// told, and say, of an array.
Result<Sharding> read_sharding_proto(std::string_view bytes);
std::string write_sharding_proto(const Sharding& sharding);
std::string write_shape_proto(const Shape& shape);
struct ConvertOptions {
  // Of StableHloBytecode, "1.0.0" to "1.20.0": the release that is to read it; empty: the newest
  // that jaxlib 0.10.2 reads. Usage when it is none.
  std::string stablehlo_version;
  std::vector<Warning>* warnings = nullptr;  // what the form has no place for
};
// The module in HloText, HloProto, HloProtoText, HloProtoJson, StableHloText or StableHloBytecode.
// Unsupported, with the instruction's place, for what StableHLO has no op or type for.
Result<std::string> convert(const Module& module, Format to, const ConvertOptions& options = {});
// A gzip file (RFC 1952) of these bytes; the same ones for the same bytes.
Result<std::string> gzip(std::string_view bytes);

}  // namespace hilo
