"""Shapes of results as plain numbers: used by the verifiers and by frontends, without MLIR.

Shapes are tuples of extents, activations NHWC, filters [O, KH, KW, I/groups]. An extent of ``DYNAMIC`` (-1)
is not known yet; whatever depends on it is dynamic too. Functions raise ``ValueError`` when shapes do not fit
together.
"""

from collections.abc import Iterable, Sequence

from ..types import DYNAMIC

Shape = tuple[int, ...]


def kernel_extent(kernel: int, dilation: int = 1) -> int:
    """Input elements between the first and the last tap of a dilated kernel, both included."""
    return (kernel - 1) * dilation + 1


def conv_output_extent(extent: int, kernel: int, stride: int, dilation: int, padding: Sequence[int]) -> int:
    """Window positions along one dimension; ``padding`` is (before, after). 0 if the window does not fit."""
    if DYNAMIC in (extent, kernel):
        return DYNAMIC
    return max(0, (extent + sum(padding) - kernel_extent(kernel, dilation)) // stride + 1)


def pool_output_extent(extent: int, window: int, stride: int, padding: Sequence[int]) -> int:
    """:func:`conv_output_extent` of an undilated window."""
    return conv_output_extent(extent, window, stride, 1, padding)


def same_padding(extent: int, kernel: int, stride: int, dilation: int = 1) -> tuple[int, int]:
    """(before, after) of TensorFlow's SAME: ``ceil(extent / stride)`` outputs, the odd element of padding
    behind.
    """
    outputs = -(-extent // stride)
    total = max(0, (outputs - 1) * stride + kernel_extent(kernel, dilation) - extent)
    return total // 2, total - total // 2


def same_padding_2d(
    extents: Sequence[int], window: Sequence[int], strides: Sequence[int], dilations: Sequence[int] = (1, 1)
) -> tuple[int, int, int, int]:
    """SAME padding of height and width as an op's ``padding`` attribute: (top, bottom, left, right)."""
    top, bottom = same_padding(extents[0], window[0], strides[0], dilations[0])
    left, right = same_padding(extents[1], window[1], strides[1], dilations[1])
    return top, bottom, left, right


def conv2d_shape(
    input: Sequence[int],
    filter: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    padding: Sequence[int],
) -> Shape:
    """[N, H', W', O] of conv2d; raises if the kernel does not fit into the padded input."""
    height = conv_output_extent(input[1], filter[1], strides[0], dilations[0], padding[:2])
    width = conv_output_extent(input[2], filter[2], strides[1], dilations[1], padding[2:])
    _demand_positive(height, width, filter[1:3], input[1:3])
    return input[0], height, width, filter[0]


def pool2d_shape(
    input: Sequence[int], window: Sequence[int], strides: Sequence[int], padding: Sequence[int]
) -> Shape:
    """[N, H', W', C] of a pool; raises if the window does not fit into the padded input."""
    height = pool_output_extent(input[1], window[0], strides[0], padding[:2])
    width = pool_output_extent(input[2], window[1], strides[1], padding[2:])
    _demand_positive(height, width, window, input[1:3])
    return input[0], height, width, input[3]


def _demand_positive(height: int, width: int, window: Sequence[int], extents: Sequence[int]) -> None:
    if 0 in (height, width):
        raise ValueError(f"a window of {list(window)} does not fit into the padded input of {list(extents)}")


def fully_connected_shape(input: Sequence[int], filter: Sequence[int]) -> Shape:
    """[..., N] of an input [..., K] and a filter [N, K]."""
    if not same_extent(input[-1], filter[1]):
        raise ValueError(f"input has {input[-1]} features, the filter {filter[1]}")
    return (*input[:-1], filter[0])


def batch_matmul_shape(
    lhs: Sequence[int], rhs: Sequence[int], transpose_lhs: bool, transpose_rhs: bool
) -> Shape:
    """[..., M, N] of [..., M, K] and [..., K, N], each of which may be given transposed."""
    rows, depth = (lhs[-1], lhs[-2]) if transpose_lhs else (lhs[-2], lhs[-1])
    other, columns = (rhs[-1], rhs[-2]) if transpose_rhs else (rhs[-2], rhs[-1])
    if not same_extent(depth, other):
        raise ValueError(f"lhs has {depth} columns, rhs {other} rows")
    return (*broadcast_shape(lhs[:-2], rhs[:-2]), rows, columns)


def broadcast_shape(lhs: Sequence[int], rhs: Sequence[int]) -> Shape:
    """The shape that numpy broadcasts two shapes to; a dynamic extent against 1 stays dynamic."""
    rank = max(len(lhs), len(rhs))
    pairs = zip(_pad_rank(lhs, rank), _pad_rank(rhs, rank), strict=True)
    result = []
    for left, right in pairs:
        if left == 1 or left == right:
            result.append(right)
        elif right == 1 or right == DYNAMIC:
            result.append(left)
        elif left == DYNAMIC:
            result.append(right)
        else:
            raise ValueError(f"shapes {list(lhs)} and {list(rhs)} do not broadcast: {left} against {right}")
    return tuple(result)


def _pad_rank(shape: Sequence[int], rank: int) -> Shape:
    return (1,) * (rank - len(shape)) + tuple(shape)


def concat_shape(shapes: Sequence[Sequence[int]], axis: int) -> Shape:
    """Extents along ``axis`` add up, all others agree."""
    first = shapes[0]
    for shape in shapes[1:]:
        if len(shape) != len(first):
            raise ValueError(f"ranks differ: {list(first)} and {list(shape)}")
        for d, (a, b) in enumerate(zip(first, shape, strict=True)):
            if d != axis and not same_extent(a, b):
                raise ValueError(f"shapes {list(first)} and {list(shape)} differ in dimension {d}")
    along = [shape[axis] for shape in shapes]
    total = DYNAMIC if DYNAMIC in along else sum(along)
    merged = tuple(max(extents) for extents in zip(*shapes, strict=True))  # DYNAMIC is below every extent
    return (*merged[:axis], total, *merged[axis + 1 :])


def transpose_shape(input: Sequence[int], permutation: Sequence[int]) -> Shape:
    """Result dimension d is input dimension ``permutation[d]``."""
    return tuple(input[p] for p in permutation)


def pad_shape(input: Sequence[int], low: Sequence[int], high: Sequence[int]) -> Shape:
    """``low`` elements before and ``high`` behind, per dimension."""
    return tuple(
        DYNAMIC if extent == DYNAMIC else before + extent + after
        for extent, before, after in zip(input, low, high, strict=True)
    )


def gather_shape(input: Sequence[int], indices: Sequence[int], axis: int, batch_dims: int) -> Shape:
    """The input's dimensions before ``axis``, those of the indices between batch and depth, those of the
    input behind the ``depth`` (last extent of the indices) that are indexed.
    """
    return (*input[:axis], *indices[batch_dims:-1], *input[axis + indices[-1] :])


def reduce_shape(input: Sequence[int], axes: Iterable[int], keep_dims: bool) -> Shape:
    """``axes`` become 1 (``keep_dims``) or vanish."""
    dropped = set(axes)
    if keep_dims:
        return tuple(1 if d in dropped else extent for d, extent in enumerate(input))
    return tuple(extent for d, extent in enumerate(input) if d not in dropped)


def same_extent(left: int, right: int) -> bool:
    """Whether two extents agree, a dynamic one agreeing with any."""
    return left == right or DYNAMIC in (left, right)


def same_shape(left: Sequence[int], right: Sequence[int]) -> bool:
    """Whether two shapes agree, extent by extent."""
    return len(left) == len(right) and all(map(same_extent, left, right))
