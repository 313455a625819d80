"""HIKC23 as written: the paper's algorithms on an arithmetic black box, beside the product."""
