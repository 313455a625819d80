"""Shares of numbers and bits with every local move. Only this package and the schemes read what is in them."""

from .bits import Bits, Index, clear_padding, pack_row, pack_rows, padded, take_bits, unpack_bits, words_for
from .bytes import Bytes
from .columns import Columns, riffled
from .field import FIELD61
from .keys import Keys
from .numbers import Numbers
from .owner import reconstruct, reconstruct_bits, seen_by_party, split, split_bits
from .points import Points
from .ring import RING16, RING32, RING64, RING128, Ring, Words
