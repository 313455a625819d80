"""The three transports: rounds, metering, shaping, and what happens when a peer misbehaves."""

import os
import signal
import socket
import threading
import time

import numpy as np
import pytest

from hedgerow import errors
from hedgerow.engine import pair_key
from hedgerow.oblivious import apply
from hedgerow.parties import PartyProcesses
from hedgerow.protocols import less_than, multiply
from hedgerow.shares import RING32, RING64, reconstruct, split
from hedgerow.transport import Network, SessionTerms, Timeouts, connect, listen, make_identities
from hedgerow.transport.frame import HEADER_BYTES, Header, Kind
from support import tamper
from support.memory import MemoryNetwork
from support.operations import dealers
from support.threads import ThreadParties, run_parties

SHORT = Timeouts(seconds=1.0)


def open_transports(identities=None, timeouts=SHORT, network=None, agreements=None, servers=None):
    """Three connected socket transports in this process, or the errors the parties met."""
    servers = servers or [listen(("127.0.0.1", 0)) for _ in range(3)]
    addresses = [server.getsockname() for server in servers]
    agreements = agreements or [SessionTerms(bytes(16), bytes(32))] * 3
    outcome = [None] * 3

    def open_one(party):
        identity = identities[party] if identities else None
        try:
            outcome[party] = connect(party, servers[party], addresses, agreements[party], identity, timeouts, network)
        except errors.PeerError as error:
            outcome[party] = error

    threads = [threading.Thread(target=open_one, args=(party,)) for party in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for server in servers:
        server.close()
    return outcome


@pytest.fixture(scope="module")
def identities(tmp_path_factory):
    return make_identities(tmp_path_factory.mktemp("identities"))


@pytest.fixture(params=["memory", "tcp", "tls"])
def transports(request, identities):
    if request.param == "memory":
        return ThreadParties(timeouts=SHORT).transports
    return open_transports(identities if request.param == "tls" else None)


def outcomes(transports, work):
    """Run ``work(transport)`` at every party and return results or errors; parties that fail tell the others."""
    results = [None] * 3

    def run(party):
        try:
            results[party] = work(transports[party])
        except errors.PeerError as error:
            results[party] = error
            transports[party].abort(error.peer)

    threads = [threading.Thread(target=run, args=(party,)) for party in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not any(thread.is_alive() for thread in threads), "a party hangs"
    return results


def both_ways(transport, step, size, seed=0):
    """Everybody sends ``size`` bytes to both neighbours; returns whether the right bytes came."""

    def message(sender, receiver):
        return np.random.default_rng([seed, sender, receiver]).integers(0, 256, size, np.uint8)

    me, left, right = transport.party, transport.left, transport.right
    from_left, from_right = np.empty(size, np.uint8), np.empty(size, np.uint8)
    transport.exchange(step, message(me, left), message(me, right), from_left, from_right)
    return np.array_equal(from_left, message(left, me)) and np.array_equal(from_right, message(right, me))


def test_large_messages_in_all_directions_do_not_deadlock(transports):
    sizes = [1, 40_000, 30_000_000, 17, 16_384, 65_536]

    def work(transport):
        return [both_ways(transport, f"step{k}", size, k) for k, size in enumerate(sizes)]

    assert outcomes(transports, work) == [[True] * len(sizes)] * 3
    for transport in transports:
        total = transport.meter.total()
        assert (total.rounds, total.messages) == (len(sizes), 2 * len(sizes))
        assert total.sent == total.received == 2 * sum(sizes)
        assert transport.meter.steps["step1"].sent == 80_000


def test_a_party_may_run_ahead(transports):
    """Two rounds without an answer in between: the second message waits until it is due."""

    def work(transport):
        buffer = np.zeros(3, np.uint8)
        if transport.party == 0:
            transport.exchange("a", to_right=buffer + 1)
            transport.exchange("b", to_right=buffer + 2)
            transport.exchange("c", from_right=buffer)
            return buffer.tolist()
        if transport.party == 1:
            time.sleep(0.2)
            transport.exchange("a", from_left=buffer)
            first = buffer.copy()
            transport.exchange("b", from_left=buffer)
            transport.exchange("c", to_left=first + buffer)
        return None

    assert outcomes(transports, work)[0] == [3, 3, 3]


def test_a_silent_peer_is_named_by_everyone_in_time(transports):
    def work(transport):
        both_ways(transport, "fine", 10)
        if transport.party == 1:
            time.sleep(2.5)
            return "slept"
        return both_ways(transport, "late", 10)

    started = time.monotonic()
    results = outcomes(transports, work)
    assert time.monotonic() - started < 6
    for party in (0, 2):
        assert isinstance(results[party], errors.PeerTimeout | errors.RunAborted)
        assert results[party].peer == 1
        assert "party 1" in str(results[party])


def test_blame_goes_to_the_party_everybody_waits_for(identities):
    """Party 2 waits for 1 only, who waits for the silent 0: both must name 0."""

    def work(transport):
        buffer = np.zeros(4, np.uint8)
        if transport.party == 0:
            time.sleep(2.5)
            return
        if transport.party == 1:
            transport.exchange("x", from_left=buffer)
            transport.exchange("y", to_right=buffer)
        else:
            transport.exchange("y", from_left=buffer)
        return

    results = outcomes(open_transports(identities), work)
    assert [results[party].peer for party in (1, 2)] == [0, 0]


def test_a_dying_peer_is_named_by_everyone(identities):
    transports = open_transports(identities)

    def work(transport):
        both_ways(transport, "fine", 10)
        if transport.party == 2:
            transport.close()
            return None
        return both_ways(transport, "gone", 5_000_000)

    results = outcomes(transports, work)
    for party in (0, 1):
        assert isinstance(results[party], errors.PeerDisconnected | errors.RunAborted)
        assert results[party].peer == 2


def test_a_killed_process_is_named():
    with PartyProcesses(timeouts=Timeouts(seconds=3)) as parties:
        victim = parties.pids[1]
        timer = threading.Timer(0.5, os.kill, (victim, signal.SIGKILL))
        timer.start()
        started = time.monotonic()
        with pytest.raises(errors.HedgerowError, match="party 1"):
            parties.run(run_for_ever, [0] * 3)
        assert time.monotonic() - started < 10


def run_for_ever(ctx, _):
    while True:
        ctx.pass_left(np.zeros(100, np.uint8))


KEYS = 2
"""Messages between two parties before a program's first: a seed and a tag."""


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize(("sender", "receiver"), [(0, 1), (0, 2), (2, 1)])
def test_pair_keys_that_differ_are_an_error_and_not_garbage(number, sender, receiver):
    """A seed, or the tag that confirms the key made of it, arrives with one bit changed."""
    network = MemoryNetwork(tamper.at_message(number, tamper.flip_payload_bit, sender=sender, receiver=receiver))
    with pytest.raises(errors.HandshakeMismatch, match="another key for this pair"):
        ThreadParties(network, SHORT).run(lambda ctx: None)


def test_a_tag_says_whose_it_is():
    """A party that sends back what it heard shows nothing."""
    key = pair_key(b"a" * 32, b"b" * 32, b"run", mine_first=True)
    assert len({key.tag(party) for party in range(3)}) == 3
    assert key.tag(0) != pair_key(b"a" * 32, b"b" * 32, b"other", mine_first=True).tag(0)


def test_unsupported_content_tampering_is_not_detected_yet():
    """Passive security: a flipped payload bit changes the answer and may go unnoticed, as SECURITY.md says."""
    network = MemoryNetwork(tamper.at_message(KEYS, tamper.flip_payload_bit, sender=0, receiver=2))
    x = split([3, 5, 7], RING64)
    results = ThreadParties(network, SHORT).run(multiply, x, x)
    # Party 2 took another summand than party 0 holds: only someone who gets all three shares can see it.
    with pytest.raises(ValueError, match="do not belong together"):
        reconstruct(results)


BAD_FRAMES = [
    (tamper.drop, (errors.PeerTimeout, errors.MalformedMessage)),
    (tamper.truncate, errors.MalformedMessage),
    (tamper.behead, errors.MalformedMessage),
    (tamper.repeat, errors.MalformedMessage),
    (tamper.inflate, errors.MalformedMessage),
    (tamper.babble, errors.MalformedMessage),
    (tamper.claim_gigabytes, errors.MalformedMessage),
]


@pytest.mark.parametrize(("change", "expected"), BAD_FRAMES, ids=lambda value: getattr(value, "__name__", ""))
@pytest.mark.parametrize("number", [KEYS, KEYS + 1])
def test_broken_frames_end_the_run_with_a_typed_error(change, expected, number):
    x = split(list(range(200)), RING64)
    network = MemoryNetwork(tamper.at_message(number, change, sender=0, receiver=2))
    with dealers(3), pytest.raises(expected) as caught:
        ThreadParties(network, Timeouts(seconds=0.5)).run(lambda ctx, a: less_than(ctx, a, a, 63), x)
    assert caught.value.peer == 0


def test_reordered_frames_are_noticed():
    held = []

    def swap(sender, receiver, step, frame):
        if (sender, receiver) != (0, 2) or step == "keys":
            return [frame]
        held.append(frame)
        return [] if len(held) == 1 else [held[1], held[0]] if len(held) == 2 else [frame]

    def program(ctx):
        for name in ("a", "b", "c"):
            if ctx.party == 0:
                ctx.step(name).exchange(to_left=np.zeros(8, np.uint8))
            elif ctx.party == 2:
                ctx.step(name).exchange(from_right=np.zeros(8, np.uint8))

    with pytest.raises(errors.MalformedMessage, match="number 2 was due"):
        ThreadParties(MemoryNetwork(swap), SHORT).run(program)


@pytest.mark.parametrize("secure", [False, True])
def test_babbling_on_a_real_connection_is_noticed(secure, identities):
    transports = open_transports(identities if secure else None)

    def work(transport):
        both_ways(transport, "fine", 10)
        if transport.party == 0:
            for link in transport.links.values():
                link.sock.setblocking(True)
                link.sock.sendall(b"x" * 5000)
            time.sleep(0.5)
            return None
        return both_ways(transport, "next", 10)

    results = outcomes(transports, work)
    assert {type(results[party]) for party in (1, 2)} <= {errors.MalformedMessage, errors.RunAborted}
    assert [results[party].peer for party in (1, 2)] == [0, 0]


def test_wrong_size_and_wrong_step_are_noticed(transports):
    def wrong_size(transport):
        size = 11 if transport.party == 0 else 10
        return both_ways(transport, "size", size)

    results = outcomes(transports, wrong_size)
    assert isinstance(results[1], errors.MalformedMessage | errors.RunAborted)


@pytest.mark.parametrize(
    ("agreement", "message"),
    [
        (SessionTerms(b"another session!", bytes(32)), "another session"),
        (SessionTerms(bytes(16), b"another configuration hash......"), "another run configuration"),
    ],
)
def test_handshake_refuses_other_runs(agreement, message, identities):
    common = SessionTerms(bytes(16), bytes(32))
    results = open_transports(identities, agreements=[common, common, agreement])
    assert any(isinstance(r, errors.HandshakeMismatch) and message in str(r) for r in results)
    assert not any(hasattr(r, "exchange") for r in results[2:])


def test_handshake_refuses_another_version(identities, monkeypatch):
    import hedgerow.transport.socket as module

    real, version = module._HELLO, module.PROTOCOL_VERSION

    class Older:
        size = real.size

        def pack(self, name, version, *rest):
            return real.pack(name, version + 1, *rest)

        def unpack(self, raw):
            return real.unpack(raw)

    monkeypatch.setattr(module, "_HELLO", Older())
    results = open_transports()
    assert any(f"speaks protocol {version + 1}, this party {version}" in str(r) for r in results)


def test_a_certificate_of_another_authority_gets_nowhere(identities, tmp_path):
    foreign = make_identities(tmp_path)
    results = open_transports([identities[0], identities[1], foreign[2]])
    assert all(isinstance(r, errors.PeerError) for r in results)
    assert isinstance(results[2], errors.HandshakeMismatch | errors.PeerUnreachable)


def test_a_party_cannot_show_another_partys_certificate(identities):
    results = open_transports([identities[0], identities[1], identities[1]])
    assert all(isinstance(r, errors.PeerError) for r in results[:2])
    assert any("certificate" in str(r) or "TLS" in str(r) for r in results)


def test_private_keys_are_private(identities):
    assert all(identity.key.stat().st_mode & 0o077 == 0 for identity in identities)


def test_nobody_answers():
    server = listen(("127.0.0.1", 0))
    closed = listen(("127.0.0.1", 0))
    address = closed.getsockname()
    closed.close()
    with pytest.raises(errors.PeerUnreachable, match="party 0"):
        connect(1, server, [address] * 3, SessionTerms(bytes(16), bytes(32)), timeouts=Timeouts(seconds=0.5))


@pytest.mark.parametrize("words", [b"", b"hello?\r\n\r\n" * 10])
def test_strangers_do_not_hold_up_the_parties(words, identities):
    """Those who knock first, silent or talking nonsense, are turned away; the parties still find each other."""
    servers = [listen(("127.0.0.1", 0)) for _ in range(3)]
    strangers = [socket.create_connection(servers[0].getsockname()) for _ in range(5)]
    for stranger in strangers:
        stranger.sendall(words)
    found = open_transports(identities, Timeouts(seconds=5), servers=servers)
    for stranger in strangers:
        stranger.close()
    assert outcomes(found, lambda transport: both_ways(transport, "x", 100)) == [True] * 3


def test_an_early_message_behind_a_sign_of_life_is_kept():
    """Party 0 says that it waits and then runs ahead while party 1 still waits for party 2 alone."""
    transports = open_transports()

    def work(transport):
        buffer = np.zeros(4, np.uint8)
        if transport.party == 0:
            transport.links[1].queue_control(Kind.WAITING, 2)
            transport.exchange("second", to_right=buffer + 9)
        elif transport.party == 1:
            transport.exchange("first", from_right=buffer)
            transport.exchange("second", from_left=buffer)
        else:
            time.sleep(0.4)
            transport.exchange("first", to_left=buffer + 1)
        return buffer.tolist()

    assert outcomes(transports, work)[1] == [9] * 4


def test_endless_signs_of_life_do_not_stretch_the_time_out():
    transports = open_transports()

    def work(transport):
        if transport.party == 0:
            sign = Header(Kind.WAITING, 2, 0, 0, 0).pack() * 1000
            end = time.monotonic() + 3
            link = transport.links[1]
            link.sock.settimeout(0.1)
            while time.monotonic() < end:
                try:
                    link.sock.sendall(sign)
                except OSError:
                    break
        elif transport.party == 1:
            started = time.monotonic()
            try:
                transport.exchange("x", from_left=np.zeros(4, np.uint8))
            except errors.MalformedMessage:
                return time.monotonic() - started
        return None

    assert outcomes(transports, work)[1] < 2


def test_opened_places_that_are_no_permutation_end_the_run():
    """A deviating party may spoil an opened permutation; nobody writes outside an array because of it."""
    permutation, column = split([2, 0, 1, 3], RING32), split([1, 2, 3, 4], RING64)
    network = MemoryNetwork(tamper.at_message(KEYS + 1, tamper.spoil_first_item, sender=0, receiver=2))
    with pytest.raises(errors.HedgerowError, match="no permutation"):
        ThreadParties(network, SHORT).run(lambda ctx, p, x: apply(ctx, p, [x]), permutation, column)


@pytest.mark.parametrize("kind", ["memory", "tcp"])
def test_shaping_delays_and_limits(kind):
    network = Network(delay=0.05, bandwidth=1e6)
    parties = ThreadParties(shape=network).transports if kind == "memory" else open_transports(network=network)

    def work(transport):
        started = time.monotonic()
        both_ways(transport, "small", 10)
        middle = time.monotonic()
        both_ways(transport, "large", 200_000)
        return started, middle, time.monotonic()

    moments = outcomes(parties, work)
    # A message left when its sender began, which may be a little earlier than the receiver did.
    first, second = (min(moment[k] for moment in moments) for k in (0, 1))
    for _, middle, end in moments:
        assert 0.049 <= middle - first < 0.2
        assert 0.249 <= end - second < 0.5


def test_pair_keys_are_known_to_exactly_two():
    def draw(ctx):
        return ctx.with_left(4).tolist(), ctx.with_right(4).tolist(), ctx.step("x").with_right(4).tolist()

    results = ThreadParties().run(draw)
    for party in range(3):
        assert results[party][1] == results[(party + 1) % 3][0]
        assert results[party][1] != results[party][0]
        assert results[party][2] != results[party][1]


def test_an_error_of_our_own_reaches_the_others():
    def program(ctx):
        if ctx.party == 1:
            raise RuntimeError("disk full")
        ctx.pass_left(np.zeros(4, np.uint8))

    with pytest.raises(RuntimeError, match="disk full"):
        ThreadParties(timeouts=SHORT).run(program)


def test_header_round_trip():
    header = Header(Kind.DATA, 2, 77, 5, 1 << 40, 1.5)
    assert Header.unpack(header.pack(), 1, "x") == header
    assert len(header.pack()) == HEADER_BYTES
    with pytest.raises(errors.MalformedMessage, match="party 1"):
        Header.unpack(b"\0" * HEADER_BYTES, 1, "x")


def test_contexts_over_tls_run_protocols(identities):
    x = split([1, 2, 3], RING64)
    transports = open_transports(identities)
    results = run_parties(transports, lambda ctx, a: multiply(ctx, a, a), [(x[p],) for p in range(3)])
    assert reconstruct(results).tolist() == [1, 4, 9]
