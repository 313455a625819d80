"""The contract that everything above may call: protocols on vectors of shares, each with its cost beside it."""

from ..schemes.replicated.carry import Chunks, radices_for, unshared_cost
from ..schemes.replicated.circuit import Circuit, circuit_cost
from ..schemes.replicated.compare import (
    PendingSign,
    SignCircuit,
    equal,
    equal_cost,
    gated_cost,
    is_zero,
    less_than,
    less_than_cost,
    opened_top_bit_cost,
    product_sign,
    product_sign_cost,
    reveal_top_bit,
    sign_chunks,
    sign_circuit,
    sign_formula,
    sign_of,
    sign_of_products,
    top_bit,
    top_bit_cost,
)
from ..schemes.replicated.convert import ring_to_bits, ring_to_bits_cost, widen, widen_cost, widen_many
from ..schemes.replicated.dealing import dealer_blocks, few
from ..schemes.replicated.evaluate_and_select import SelectByRow, evaluate_and_select
from ..schemes.replicated.evaluation import Evaluation, LaterInputs, SharedInputs, evaluate
from ..schemes.replicated.formula import Formula, Wiring, carry_of, carry_tree, product, product_tree
from ..schemes.replicated.gate import bit_and, bit_not, bit_or, gates_cost
from ..schemes.replicated.input import constant, deal, public, public_bits
from ..schemes.replicated.multiply import dot, dot_cost, inner_products, multiply, multiply_many, square
from ..schemes.replicated.refresh import refresh
from ..schemes.replicated.reveal import reveal, reveal_bits
from ..schemes.replicated.select import (
    Selection,
    bit_to_ring,
    bit_to_ring_cost,
    multiply_bit,
    multiply_bit_cost,
    select,
    select_columns,
    select_sum,
    select_sum_cost,
)
from ..schemes.replicated.shuffle import (
    Column,
    Shuffle,
    ShuffleJob,
    draw_shuffle,
    inverse,
    run_shuffles,
    shuffle_cost,
    shuffles_cost,
)
from ..schemes.replicated.truncate import truncate, truncate_cost, truncate_many, truncate_many_cost
from .divide import fraction, fraction_cost
from .rows import choose_rows, numbers_of_rows
from .score import Scores, score_sign, score_sign_cost
