"""What names of kernels tell: the shipped libraries, and how patterns of one's own are refused."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from advisor.errors import RuleError
from advisor.facts import load_vocabulary
from advisor.facts.naming import ByName
from tests.support.facts import facts_of, told_by_names, vocabulary_once

NAMES = {  # as profilers print them; those of the program's own come to no library
    "void Kernel2<cutlass_80_tensorop_s16816gemm_f16_128x64_64x3_nn_align8>(Params)": "cuBLAS",
    "ampere_sgemm_128x64_nn": "cuBLAS",
    "sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x256x32__5x_cublas": "cuBLAS",
    "nvjet_sm90_hss_320x128_64x3_1x2_h_bz_coopB_NNT": "cuBLAS",
    "void cublasLt::splitKreduce_kernel<32, 16, int>(cublasLt::P)": "cuBLAS",
    "void cudnn::bn_fw_inf_1C11_kernel_NCHW<float>(float)": "cuDNN",
    "void implicit_convolve_sgemm<float, 128>(int)": "cuDNN",
    "void vector_fft<8u, 0u>(kernel_arguments_t<unsigned int>)": "cuFFT",
    "void prime_fft_factor<29, EPT<2>, 8, 0>(kernel_arguments_t<T10>)": "cuFFT",
    "void my_fft<float>(float *)": None,
    "void gemvx::kernel<int, int, float, 0>(T8)": "cuBLAS",
    "void mine::gemvx::kernel_of<int>(T8)": None,
    "void cask_cudnn::computeOffsetsKernel<int>(int)": "cuDNN",
    "fmha_cutlassB_f32_aligned_64x64_k32_sm80(T1::Params)": "PyTorch",
    "void AttentionKernel<float, 64>(float *)": None,
    "void attention_kernel<float>(float *)": None,
    "void cusparse::csrmv_v3_kernel<int>(float)": "cuSPARSE",
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int>>": "PyTorch",
    "void at::elementwise_kernel<128, 2, at::CUDAFunctor_add<float>>(int, T3)": "PyTorch",
    "void mine::scale<at::Half>(at::Half *)": None,
    "void unnamed>::distribution_elementwise_grid_stride_kernel<float, 4>(long)": "PyTorch",
    "void cub::DeviceRadixSortOnesweepKernel<cub::Policy, (bool)0>(int *)": "CUB",
    "void cub::CUB_200101_NS::DeviceReduceKernel<int>(int)": "CUB",
    "void thrust::THRUST_200700_NS::cuda_cub::core::_kernel_agent<int>(int)": "Thrust",
    "void cutlass::Kernel<cutlass::gemm::kernel::Gemm<int> >(T1::Params)": "CUTLASS",
    "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64> >(int)": "FlashAttention",
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)": "NCCL",
    "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32": "rocBLAS",
    "void rocprim::detail::radix_sort_kernel<int>(int)": "rocPRIM",
    "igemm_fwd_gtcx_nhwc_fp16_bx0_ex1": "MIOpen",
    "igemm_wmma(signed char const*, int*)": None,
    "__pgi_uacc_cuda_fill": "OpenACC runtime",
    "sgemm_global_mem_coalesce(const float *, const float *, float *)": None,
    "reduceUsingCUB(int *, int *)": None,
    "void gemm<128, 8>(float *)": None,
    "flash_attention_forward(float *)": None,
    "ReferenceGemm_kernel(int, int, int)": None,
    "sort_kernel(int *)": None,
    "void Kokkos::Impl::cuda_parallel_launch_constant_memory<int>()": None,
}


def test_libraries_are_known_by_the_names_of_their_kernels() -> None:
    assert told_by_names("library", NAMES) == NAMES


CALLS = {
    "void Kernel2<cutlass_80_tensorop_s16816gemm_f16_128x64_64x3_nn_align8>(Params)": None,
    "void Kernel2<cutlass_80_tensorop_s16816gemm_f16_128x64_64x3_nn_align4>(P)": "narrow operands",
    "void Kernel2<cutlass_80_tensorop_s1688gemm_128x64_32x3_nn_align4>(Params)": None,
    "void Kernel2<cutlass_80_tensorop_s1688gemm_128x64_32x3_nn_align1>(Params)": "narrow operands",
    "void Kernel2<cutlass_75_tensorop_f16_s1688gemm_f16_256x64_nn_align4>(P)": "narrow operands",
    "void Kernel2<cutlass_80_tensorop_i16832gemm_s8_128x128_64x3_tn_align16>(P)": None,
    "void Kernel2<cutlass_80_tensorop_i16832gemm_s8_128x128_64x3_tn_align4>(P)": "narrow operands",
    "cutlass3x_sm90_tensorop_s64x64x32gemm_e4m3_e5m2_f32_f16_align8_relu": "narrow operands",
    "cutlass3x_sm90_tensorop_s64x64x32gemm_f8_f8_f32_f16_align16_relu": None,
    "cutlass3x_sm90_tensorop_s64x64x16gemm_bf16_bf16_f32_bf16_bf16_tnn_align4": "narrow operands",
    "cutlass3x_sm90_tensorop_s64x64x16gemm_f16_f16_f32_f16_f16_tnn_align8_1sm": None,
    "cutlass3x_sm90_tensorop_s64x64x8gemm_tf32_tf32_f32_f32_f32_tnn_align2_1sm": "narrow operands",
    "cutlass3x_sm90_tensorop_s64x64x8gemm_tf32_tf32_f32_f32_f32_tnn_align4_1sm": None,
    "cutlass3x_sm100_tensorop_s64x64x64gemm_f4_f4_f32_f16_f16_tnn_align16_1sm": "narrow operands",
    "cutlass3x_sm100_tensorop_s64x64x64gemm_f4_f4_f32_f16_f16_tnn_align32_1sm": None,
    "void Kernel2<cutlass_80_tensorop_d884gemm_64x64_16x4_nn_align1>(Params)": None,
    "void Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nn_align1>(Params)": None,
    "void at::native::elementwise_kernel<128, 2, int>(int, T1)": "strided operands",
    "void at::native::elementwise_kernel<128, at::direct_copy_kernel_cuda(T1)>": "strided copy",
    "void at::native::vectorized_elementwise_kernel<4, int>(int, T1)": None,
    "void at::native::unrolled_elementwise_kernel<int>(int, T1)": None,
    "void mine::elementwise_kernel<128>(int)": None,
}


def test_names_of_libraries_tell_what_the_operands_are_like() -> None:
    assert told_by_names("library_call", CALLS) == CALLS


WORK = {
    "sgemm_global_mem_coalesce(const float *)": "matrix product",
    "void MatMul<float, 16>(T1 *)": "matrix product",
    "ptx_mma_db(half *)": "matrix product",
    "conv2d_tiled(float *)": "matrix product",
    "conv1_direct(float *)": "matrix product",
    "type_conv_kernel(float *)": None,
    "flash_attention_forward(float *)": "matrix product",
    "mha_attn_decode(float *)": "matrix product",
    "histogram256(int *)": "counts",
    "scatter_add_kernel(float *)": "updates",
    "countPoints(int *)": "counts",
    "atomicAddKernel(int *)": "updates",
    "add_atomics(int *)": "updates",
    "naiveAtomicAdd(int *)": "updates",
    "reduceAtomicGlobal(int *)": "updates",
    "interatomic_forces(float *)": None,
    "AtomicOrbitals_eval(float *)": None,
    "histo_kernel(int *)": "counts",
    "transposeNaive(float *)": "transpose",
    "gemm_transposed(float *)": "matrix product",
    "void cublasLt::splitKreduce_kernel<32, 16, int>(cublasLt::P)": "beside a product",
    "void im2col_kernel<float>(long, float *)": "beside a product",
    "deformable_im2col_gpu_kernel(float *)": "beside a product",
    "im2col_gemm(float *)": "matrix product",
    "void vllm::batched_rotary_embedding_kernel<float>(float *)": "beside a product",
    "apply_rotary_pos_emb_qk(float *, float *)": "beside a product",
    "void add_fusedQKV_bias_transpose_kernel<half>(half *)": "beside a product",
    "void fastertransformer::add_bias_gelu<half>(half *)": "beside a product",
    "addBiasResidual(float *)": "beside a product",
    "bias_act_kernel(float *)": "beside a product",
    "fused_bias_gelu(float *)": "stream",
    "position_bias(float *)": None,
    "gemm_bias_gelu(float *)": "matrix product",
    "matmul_add_bias(float *)": "matrix product",
    "gemv_kernel(float *)": "stream",
    "mul_mat_vec_q(float *)": "stream",
    "softmax_forward(float *)": "stream",
    "layernorm_forward(float *)": "stream",
    "reduceInterleaved(float *)": "reduction",
    "row_sums(float *)": "reduction",
    "dot_product(float *)": "reduction",
    "vectorAdd(float *)": "stream",
    "sum_kernel(float *)": "stream",
    "dot(float *)": "stream",
    "summary(float *)": None,
    "update_history(float *)": None,
    "address_of(float *)": None,
    "update_gamma(float *)": None,
    "account(int *)": None,
    "permute_rows(float *)": None,
    "convert_types(float *)": None,
}


def test_some_work_is_known_by_the_names_of_its_kernels() -> None:
    assert told_by_names("named_work", WORK) == WORK


EXCHANGES = {
    "void vector_fft<8u, 0u>(kernel_arguments_t<unsigned int>)": "transform",
    "ntt_forward(unsigned *)": "transform",
    "inclusiveScan(int *)": "scan",
    "block_scan(int *)": "scan",
    "prefixSum(int *)": "scan",
    "scanline_fill(int *)": "scan",
    "void cub::DeviceRadixSortOnesweepKernel<cub::Policy, (bool)0>(int *)": "sort",
    "bitonic_sort(int *)": "sort",
    "softmax_forward(float *)": "norm",
    "rms_norm(float *)": "norm",
    "assorted(float *)": None,
    "sorted_gather(float *)": None,
}
COLLECTIVES = {
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)": "collective",
    "void vllm::cross_device_reduce_1stage<half, 8>(int)": "collective",
    "nvshmem_put_block(float *)": "collective",
    "alltoall_dispatch(float *)": "collective",
    "reduce_rows(float *)": None,
}


MATRIX_UNITS = {
    "tile_mma_kernel(const half *)": "matrix units",
    "void wgmma_loop<64>(float *)": "matrix units",
    "product_tensor_cores(int)": "matrix units",
    "hmma_16816(half *)": "matrix units",
    "gemm_naive(float *)": None,
    "comma_count(char *)": None,
}


def test_some_kernels_multiply_on_matrix_units_by_their_names() -> None:
    assert told_by_names("named_matrix_units", MATRIX_UNITS) == MATRIX_UNITS


def test_some_kernels_pass_values_between_threads_or_devices_by_their_names() -> None:
    assert told_by_names("named_exchange", EXCHANGES) == EXCHANGES
    assert told_by_names("named_collective", COLLECTIVES) == COLLECTIVES


def test_a_kernel_without_a_name_belongs_to_no_library() -> None:
    found = facts_of(duration=1.0, compute_utilization=0.9)
    assert (found["library"], found["library_is_busy"]) == (None, False)


@pytest.mark.parametrize(
    ("name", "communicates"),
    [
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)", True),
        ("rcclGenericKernel(int)", True),
        ("ampere_sgemm_128x64_nn", False),
        ("mine(float *)", False),
    ],
)
def test_some_libraries_exchange_data_between_devices(name: str, communicates: bool) -> None:
    library = told_by_names("library", {name: None})[name]
    exchanges = vocabulary_once().facts["library_communicates"].expression
    query = f"select {exchanges.sql()} from (select ? as library)"
    with duckdb.connect() as connection:
        assert connection.execute(query, [library]).fetchall() == [(communicates,)]


def test_some_libraries_choose_among_kernels() -> None:
    chooses = vocabulary_once().facts["library_has_choice"].expression
    query = f"select library, {chooses.sql()} from (select unnest(?) as library)"
    with duckdb.connect() as connection:
        found = connection.execute(query, [["cuBLAS", "CUTLASS", "CUB", None]]).fetchall()
    assert found == [("cuBLAS", True), ("CUTLASS", True), ("CUB", False), (None, False)]


@pytest.mark.parametrize(
    ("fact", "problem"),
    [
        ("{kind: text, by_name: {ours: ['(']}", r"2:40: not a regular expression: missing \)"),
        ("{kind: text, by_name: {ours: [a, '(?!gemm)k']}", r"2:43: not a regular expression"),
        (r"{kind: text, by_name: {ours: ['(a)\1']}", r"2:40: not a regular expression: .*\\1"),
        (r"{kind: text, by_name: {ours: ['a\Z']}", r"2:40: not a regular expression: .*\\Z"),
        ("{kind: text, by_name: {ours: ['a{1,5000}']}", r"2:40: not a regular expression: .*5000"),
        ("{kind: text, by_name: {ours: ['(a', 'b)']}", r"2:40: not a regular expression"),
        ("{kind: text, by_name: {ours: []}", r"2:39: expected patterns of names"),
        ("{kind: text, by_name: {ours: [a, '']}", r"2:43: an empty pattern is found in every"),
        ("{kind: text, by_name: {}", "labels with patterns"),
        ("{kind: text, level: launch, by_name: {ours: [a]}", "known per kernel"),
        ("{kind: boolean, by_name: {ours: [a]}", "is a text"),
    ],
)
def test_what_no_name_can_tell_is_refused(tmp_path: Path, fact: str, problem: str) -> None:
    folder = tmp_path / "facts"
    folder.mkdir()
    (folder / "ours.yaml").write_text(f"facts:\n  whose: {fact}, about: whose, source: us}}\n")
    with pytest.raises(RuleError, match=problem):
        load_vocabulary([tmp_path])


def test_the_first_label_holds() -> None:
    named = ByName(patterns={"one": "a", "it's": "b"})
    assert named.sql() == (
        "case when regexp_matches(kernel_name, 'a') then 'one'"
        " when regexp_matches(kernel_name, 'b') then 'it''s' end"
    )
