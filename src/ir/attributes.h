// Attributes of opcodes: plain structs, each with its one field list. Parsing, printing, comparing,
// hashing, cloning and the wire forms all derive from these lists; the order is the printed order.
#pragma once

#include <tuple>

#include "ir/attribute_types.h"

namespace hilo {

enum class Presence : uint8_t {
  Required,  // must be given; always printed
  Optional,  // printed when it differs from the struct's default
  Always,    // may be missing; always printed
};

template <class Struct, class Value>
struct Field {
  std::string_view name;
  Value Struct::* member;
  Presence presence;
};

// A template, so that only those who walk the fields pay for compiling the list.
#define HILO_FIELDS(Struct, ...)                                   \
  bool operator==(const Struct&) const = default;                  \
  template <class Self = Struct>                                   \
  static constexpr auto fields() {                                 \
    [[maybe_unused]] constexpr auto required = Presence::Required; \
    [[maybe_unused]] constexpr auto optional = Presence::Optional; \
    [[maybe_unused]] constexpr auto always = Presence::Always;     \
    return std::tuple{__VA_ARGS__};                                \
  }
#define HILO_FIELD(member, presence) \
  Field<Self, decltype(Self::member)> { #member, &Self::member, presence }

struct NoneAttributes {
  HILO_FIELDS(NoneAttributes)
};
struct ParameterAttributes {  // the text form stands in the operand list
  int64_t number = 0;
  HILO_FIELDS(ParameterAttributes)
};
struct ConstantAttributes {  // the text form stands in the operand list
  LiteralRef literal;
  HILO_FIELDS(ConstantAttributes)
};
struct IotaAttributes {
  int64_t iota_dimension = 0;
  HILO_FIELDS(IotaAttributes, HILO_FIELD(iota_dimension, required))
};
struct ReducePrecisionAttributes {
  int64_t exponent_bits = 0, mantissa_bits = 0;
  HILO_FIELDS(ReducePrecisionAttributes, HILO_FIELD(exponent_bits, required),
              HILO_FIELD(mantissa_bits, required))
};
struct CompareAttributes {
  ComparisonDirection direction = ComparisonDirection::Eq;
  ComparisonOrder order = ComparisonOrder::Default;  // Total of floats is type TOTALORDER
  ComparisonType type = ComparisonType::Default;
  HILO_FIELDS(CompareAttributes, HILO_FIELD(direction, required), HILO_FIELD(order, optional),
              HILO_FIELD(type, optional))
};
struct DimensionsAttributes {
  Dims dimensions;
  HILO_FIELDS(DimensionsAttributes, HILO_FIELD(dimensions, always))
};
struct ReshapeAttributes {
  std::optional<int64_t> inferred_dimension;
  HILO_FIELDS(ReshapeAttributes, HILO_FIELD(inferred_dimension, optional))
};
struct SliceAttributes {
  SliceDims slice;
  HILO_FIELDS(SliceAttributes, HILO_FIELD(slice, required))
};
struct DynamicSliceAttributes {
  Dims dynamic_slice_sizes;
  HILO_FIELDS(DynamicSliceAttributes, HILO_FIELD(dynamic_slice_sizes, required))
};
struct PadAttributes {
  PaddingConfig padding;
  HILO_FIELDS(PadAttributes, HILO_FIELD(padding, required))
};
struct GatherAttributes {
  Dims offset_dims, collapsed_slice_dims, start_index_map;
  Dims operand_batching_dims, start_indices_batching_dims;
  int64_t index_vector_dim = 0;
  Dims slice_sizes;
  bool indices_are_sorted = false;
  HILO_FIELDS(GatherAttributes, HILO_FIELD(offset_dims, required),
              HILO_FIELD(collapsed_slice_dims, required), HILO_FIELD(start_index_map, required),
              HILO_FIELD(operand_batching_dims, optional),
              HILO_FIELD(start_indices_batching_dims, optional),
              HILO_FIELD(index_vector_dim, required), HILO_FIELD(slice_sizes, required),
              HILO_FIELD(indices_are_sorted, optional))
};
struct ScatterAttributes {
  Dims update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims;
  Dims input_batching_dims, scatter_indices_batching_dims;
  int64_t index_vector_dim = 0;
  bool indices_are_sorted = false, unique_indices = false;
  ComputationId to_apply;
  HILO_FIELDS(ScatterAttributes, HILO_FIELD(update_window_dims, required),
              HILO_FIELD(inserted_window_dims, required),
              HILO_FIELD(scatter_dims_to_operand_dims, required),
              HILO_FIELD(input_batching_dims, optional),
              HILO_FIELD(scatter_indices_batching_dims, optional),
              HILO_FIELD(index_vector_dim, required), HILO_FIELD(indices_are_sorted, optional),
              HILO_FIELD(unique_indices, optional), HILO_FIELD(to_apply, required))
};
struct MapAttributes {
  Dims dimensions;
  ComputationId to_apply;
  HILO_FIELDS(MapAttributes, HILO_FIELD(dimensions, always), HILO_FIELD(to_apply, required))
};
struct ReduceAttributes {
  Dims dimensions;
  ComputationId to_apply;
  HILO_FIELDS(ReduceAttributes, HILO_FIELD(dimensions, required), HILO_FIELD(to_apply, required))
};
struct ReduceWindowAttributes {
  Window window;
  ComputationId to_apply;
  HILO_FIELDS(ReduceWindowAttributes, HILO_FIELD(window, optional), HILO_FIELD(to_apply, required))
};
struct SelectAndScatterAttributes {
  Window window;
  ComputationId select, scatter;
  HILO_FIELDS(SelectAndScatterAttributes, HILO_FIELD(window, optional),
              HILO_FIELD(select, required), HILO_FIELD(scatter, required))
};
struct ScanAttributes {
  Dims dimensions;
  int64_t num_carries = 0;
  bool is_reverse = false;
  std::optional<bool> is_associative;
  ComputationId to_apply;
  HILO_FIELDS(ScanAttributes, HILO_FIELD(dimensions, required), HILO_FIELD(num_carries, required),
              HILO_FIELD(is_reverse, optional), HILO_FIELD(is_associative, optional),
              HILO_FIELD(to_apply, required))
};
struct SortAttributes {
  Dims dimensions;
  bool is_stable = false;
  ComputationId to_apply;
  HILO_FIELDS(SortAttributes, HILO_FIELD(dimensions, required), HILO_FIELD(is_stable, optional),
              HILO_FIELD(to_apply, required))
};
struct TopKAttributes {
  int64_t k = 0;
  bool largest = true;
  std::optional<bool> is_stable;
  HILO_FIELDS(TopKAttributes, HILO_FIELD(k, required), HILO_FIELD(largest, always),
              HILO_FIELD(is_stable, optional))
};
struct BatchNormAttributes {
  double epsilon = 0;
  int64_t feature_index = 0;
  HILO_FIELDS(BatchNormAttributes, HILO_FIELD(epsilon, required),
              HILO_FIELD(feature_index, required))
};
struct CholeskyAttributes {
  bool lower = false;
  HILO_FIELDS(CholeskyAttributes, HILO_FIELD(lower, optional))
};
struct TriangularSolveAttributes {
  bool left_side = false, lower = false, unit_diagonal = false;
  TransposeKind transpose_a = TransposeKind::Invalid;
  HILO_FIELDS(TriangularSolveAttributes, HILO_FIELD(left_side, optional),
              HILO_FIELD(lower, optional), HILO_FIELD(unit_diagonal, optional),
              HILO_FIELD(transpose_a, optional))
};
struct FftAttributes {
  FftType fft_type = FftType::Fft;
  Dims fft_length;
  HILO_FIELDS(FftAttributes, HILO_FIELD(fft_type, required), HILO_FIELD(fft_length, required))
};
struct ConvolutionAttributes {
  Window window;
  ConvolutionLabels dim_labels;
  int64_t feature_group_count = 1, batch_group_count = 1;
  ConvolutionKind convolution_kind = ConvolutionKind::Unset;
  Precisions operand_precision;
  DotAlgorithm algorithm = DotAlgorithm::Unset;
  RawText sparsity_config;
  HILO_FIELDS(ConvolutionAttributes, HILO_FIELD(window, optional), HILO_FIELD(dim_labels, required),
              HILO_FIELD(feature_group_count, optional), HILO_FIELD(batch_group_count, optional),
              HILO_FIELD(convolution_kind, optional), HILO_FIELD(operand_precision, optional),
              HILO_FIELD(algorithm, optional), HILO_FIELD(sparsity_config, optional))
};
struct DotAttributes {
  Dims lhs_batch_dims, lhs_contracting_dims, rhs_batch_dims, rhs_contracting_dims;
  Precisions operand_precision;
  DotAlgorithm algorithm = DotAlgorithm::Unset;
  RawText sparsity;
  HILO_FIELDS(DotAttributes, HILO_FIELD(lhs_batch_dims, optional),
              HILO_FIELD(lhs_contracting_dims, always), HILO_FIELD(rhs_batch_dims, optional),
              HILO_FIELD(rhs_contracting_dims, always), HILO_FIELD(operand_precision, optional),
              HILO_FIELD(algorithm, optional), HILO_FIELD(sparsity, optional))
};
struct RaggedDotAttributes {
  Dims lhs_batch_dims, lhs_contracting_dims, rhs_batch_dims, rhs_contracting_dims;
  Precisions operand_precision;
  DotAlgorithm algorithm = DotAlgorithm::Unset;
  Dims lhs_ragged_dims, rhs_group_dims;
  HILO_FIELDS(RaggedDotAttributes, HILO_FIELD(lhs_batch_dims, optional),
              HILO_FIELD(lhs_contracting_dims, always), HILO_FIELD(rhs_batch_dims, optional),
              HILO_FIELD(rhs_contracting_dims, always), HILO_FIELD(operand_precision, optional),
              HILO_FIELD(algorithm, optional), HILO_FIELD(lhs_ragged_dims, always),
              HILO_FIELD(rhs_group_dims, optional))
};
struct RngAttributes {
  RngDistribution distribution = RngDistribution::Invalid;
  HILO_FIELDS(RngAttributes, HILO_FIELD(distribution, required))
};
struct RngBitGeneratorAttributes {
  RngAlgorithm algorithm = RngAlgorithm::Default;
  HILO_FIELDS(RngBitGeneratorAttributes, HILO_FIELD(algorithm, required))
};
struct RngGetAndUpdateStateAttributes {
  int64_t delta = 0;
  HILO_FIELDS(RngGetAndUpdateStateAttributes, HILO_FIELD(delta, required))
};
struct CallAttributes {
  ComputationId to_apply;
  bool is_composite = false;
  OutputOperandAliases output_to_operand_aliasing;
  HILO_FIELDS(CallAttributes, HILO_FIELD(to_apply, required), HILO_FIELD(is_composite, optional),
              HILO_FIELD(output_to_operand_aliasing, optional))
};
struct ConditionalAttributes {  // either the two, or the list
  ComputationId true_computation, false_computation;
  std::vector<ComputationId> branch_computations;
  HILO_FIELDS(ConditionalAttributes, HILO_FIELD(true_computation, optional),
              HILO_FIELD(false_computation, optional), HILO_FIELD(branch_computations, optional))
};
struct WhileAttributes {
  ComputationId condition, body;
  HILO_FIELDS(WhileAttributes, HILO_FIELD(condition, required), HILO_FIELD(body, required))
};
struct FusionAttributes {
  FusionKind kind = FusionKind::Loop;
  OutputOperandAliases output_to_operand_aliasing;
  ComputationId calls;
  HILO_FIELDS(FusionAttributes, HILO_FIELD(kind, required),
              HILO_FIELD(output_to_operand_aliasing, optional), HILO_FIELD(calls, required))
};
struct CustomCallAttributes {
  Window window;
  std::optional<ConvolutionLabels> dim_labels;
  int64_t feature_group_count = 1, batch_group_count = 1;
  Precisions operand_precision;
  DotAlgorithm algorithm = DotAlgorithm::Unset;
  PaddingType padding_type = PaddingType::Invalid;
  std::string custom_call_target;
  std::optional<std::vector<Shape>> operand_layout_constraints;
  bool custom_call_has_side_effect = false;
  LiteralRef literal;
  OutputOperandAliases output_to_operand_aliasing;
  CustomCallSchedule schedule = CustomCallSchedule::None;
  CustomCallApiVersion api_version = CustomCallApiVersion::Original;
  std::vector<ComputationId> called_computations;
  HILO_FIELDS(CustomCallAttributes, HILO_FIELD(window, optional), HILO_FIELD(dim_labels, optional),
              HILO_FIELD(feature_group_count, optional), HILO_FIELD(batch_group_count, optional),
              HILO_FIELD(operand_precision, optional), HILO_FIELD(algorithm, optional),
              HILO_FIELD(padding_type, optional), HILO_FIELD(custom_call_target, required),
              HILO_FIELD(operand_layout_constraints, optional),
              HILO_FIELD(custom_call_has_side_effect, optional), HILO_FIELD(literal, optional),
              HILO_FIELD(output_to_operand_aliasing, optional), HILO_FIELD(schedule, optional),
              HILO_FIELD(api_version, optional), HILO_FIELD(called_computations, optional))
};
struct DomainAttributes {
  RawText domain;
  HILO_FIELDS(DomainAttributes, HILO_FIELD(domain, required))
};
struct GetTupleElementAttributes {
  int64_t index = 0;
  HILO_FIELDS(GetTupleElementAttributes, HILO_FIELD(index, required))
};
struct AsyncAttributes {  // of async-update and async-done: those of their async-start
  std::string async_execution_thread;
  OutputOperandAliases output_to_operand_aliasing;
  ComputationId calls;
  HILO_FIELDS(AsyncAttributes, HILO_FIELD(async_execution_thread, optional),
              HILO_FIELD(output_to_operand_aliasing, optional), HILO_FIELD(calls, optional))
};
struct CopyStartAttributes {
  std::optional<int64_t> cross_program_prefetch_index;
  HILO_FIELDS(CopyStartAttributes, HILO_FIELD(cross_program_prefetch_index, optional))
};
struct InfeedAttributes {
  std::string infeed_config;
  HILO_FIELDS(InfeedAttributes, HILO_FIELD(infeed_config, optional))
};
struct OutfeedAttributes {
  std::optional<Shape> outfeed_shape;
  std::string outfeed_config;
  HILO_FIELDS(OutfeedAttributes, HILO_FIELD(outfeed_shape, optional),
              HILO_FIELD(outfeed_config, optional))
};
struct TransferAttributes {
  std::optional<int64_t> channel_id;
  bool is_host_transfer = false;
  HILO_FIELDS(TransferAttributes, HILO_FIELD(channel_id, optional),
              HILO_FIELD(is_host_transfer, optional))
};
struct AllGatherAttributes {
  std::optional<int64_t> channel_id;
  ReplicaGroups replica_groups;
  bool constrain_layout = false;
  Dims dimensions;
  bool use_global_device_ids = false;
  HILO_FIELDS(AllGatherAttributes, HILO_FIELD(channel_id, optional),
              HILO_FIELD(replica_groups, always), HILO_FIELD(constrain_layout, optional),
              HILO_FIELD(dimensions, required), HILO_FIELD(use_global_device_ids, optional))
};
struct AllReduceAttributes {
  std::optional<int64_t> channel_id;
  ReplicaGroups replica_groups;
  bool constrain_layout = false, use_global_device_ids = false;
  ComputationId to_apply;
  HILO_FIELDS(AllReduceAttributes, HILO_FIELD(channel_id, optional),
              HILO_FIELD(replica_groups, always), HILO_FIELD(constrain_layout, optional),
              HILO_FIELD(use_global_device_ids, optional), HILO_FIELD(to_apply, required))
};
struct ReduceScatterAttributes {
  std::optional<int64_t> channel_id;
  ReplicaGroups replica_groups;
  bool constrain_layout = false, use_global_device_ids = false;
  Dims dimensions;
  ComputationId to_apply;
  HILO_FIELDS(ReduceScatterAttributes, HILO_FIELD(channel_id, optional),
              HILO_FIELD(replica_groups, always), HILO_FIELD(constrain_layout, optional),
              HILO_FIELD(use_global_device_ids, optional), HILO_FIELD(dimensions, required),
              HILO_FIELD(to_apply, required))
};
struct AllToAllAttributes {
  std::optional<int64_t> channel_id;
  ReplicaGroups replica_groups;
  bool constrain_layout = false;
  std::optional<Dims> dimensions;  // missing: the tuple form
  HILO_FIELDS(AllToAllAttributes, HILO_FIELD(channel_id, optional),
              HILO_FIELD(replica_groups, always), HILO_FIELD(constrain_layout, optional),
              HILO_FIELD(dimensions, optional))
};
struct RaggedAllToAllAttributes {
  std::optional<int64_t> channel_id;
  ReplicaGroups replica_groups;
  HILO_FIELDS(RaggedAllToAllAttributes, HILO_FIELD(channel_id, optional),
              HILO_FIELD(replica_groups, always))
};
struct CollectiveBroadcastAttributes {
  std::optional<int64_t> channel_id;
  ReplicaGroups replica_groups;
  bool has_dynamic_root = false;
  HILO_FIELDS(CollectiveBroadcastAttributes, HILO_FIELD(channel_id, optional),
              HILO_FIELD(replica_groups, always), HILO_FIELD(has_dynamic_root, optional))
};
struct CollectivePermuteAttributes {
  std::optional<int64_t> channel_id;
  SourceTargetPairs source_target_pairs;
  SliceSizesList slice_sizes;
  HILO_FIELDS(CollectivePermuteAttributes, HILO_FIELD(channel_id, optional),
              HILO_FIELD(source_target_pairs, required), HILO_FIELD(slice_sizes, optional))
};

}  // namespace hilo
