"""Formulas of bits: the same truth table as Python's own operators, and one stage for what is written in one."""

import itertools

import pytest

from hedgerow.schemes.replicated.formula import ONE, Formula, Wiring, carry_tree, product, product_tree, rows_of


def value(formula, bits):
    """A formula's value for given rows."""
    return sum(all(bits[row] for row in term) for term in formula.terms) % 2


@pytest.mark.parametrize(
    "made",
    [
        lambda a, b, c: a ^ b & c,
        lambda a, b, c: ~(a & b) ^ c,
        lambda a, b, c: (a ^ b) & (b ^ c),
        lambda a, b, c: a & ~b & c,
        lambda a, b, c: a ^ a ^ b & b,
        lambda a, b, c: (a ^ ~b) & (c ^ a) & ~(b & c),
    ],
)
def test_formulas_have_the_truth_tables_of_what_is_written(made):
    formula = made(*Wiring().inputs(3))
    for bits in itertools.product((0, 1), repeat=3):
        # Python's ~ of 0 is -1, whose lowest bit is 1.
        assert value(formula, bits) == made(*bits) & 1


def test_equal_terms_cancel_and_products_have_each_bit_once():
    a, b = Wiring().inputs(2)
    assert (a ^ a).terms == ()
    assert (a & a).terms == a.terms
    assert product([a, b, a]).terms == ((0, 1),)
    assert (~~a).terms == a.terms
    assert (ONE & b).terms == b.terms


@pytest.mark.parametrize("chunks", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("radix", [2, 3, 4])
def test_trees_of_carries_and_products_equal_what_they_stand_for(chunks, radix):
    stages, left = [], chunks
    while left > 1:
        left = -(-left // radix)
        stages.append(radix)
    for bits in itertools.islice(itertools.product((0, 1), repeat=2 * chunks), 0, 4**chunks, max(1, 4**chunks // 200)):
        wiring = Wiring()
        g, p = wiring.inputs(chunks), wiring.inputs(chunks)
        carry, factors = carry_tree(wiring, g, [None, *p[1:]], stages), product_tree(wiring, p, stages)
        known = list(bits)
        for stage in wiring._stages:
            known += [value(formula, known) for formula in stage]
        expected = 0
        for k in range(chunks):
            expected = bits[k] ^ (bits[chunks + k] & expected) if k else bits[0]
        assert value(carry, known) == expected
        assert value(product(factors), known) == int(all(bits[chunks:]))


def test_rows_and_stages():
    wiring = Wiring()
    first = wiring.inputs(2)
    made = wiring.stage([first[0] & first[1], ~first[0]])
    assert rows_of(made) == slice(2, 4)
    assert rows_of([made[1], first[0]]) == [3, 0]
    assert wiring.circuit().results == 2
    with pytest.raises(ValueError, match="before the first stage"):
        wiring.inputs(1)
    with pytest.raises(ValueError, match="unpack"):
        Formula([(0,), (1,)]).row  # noqa: B018
