"""The table of a job's states: what leads where, and that nothing else does."""

import itertools

import pytest

from hedgerow.service.jobs.state import ENDINGS, GIVEN_UP, OPEN, TRANSITIONS, UNSTARTED, UNWRITTEN, Event, State, after


def reachable(start):
    """All states that some events lead to from one."""
    seen, waiting = set(), [start]
    while waiting:
        state = waiting.pop()
        if state not in seen:
            seen.add(state)
            waiting += [target for (source, _), target in TRANSITIONS.items() if source == state]
    return seen


def test_every_state_can_be_reached_and_every_open_job_can_end():
    assert reachable(State.WAITING) == set(State)
    for state in OPEN:
        assert {State.DONE, State.FAILED, State.CANCELLED} <= reachable(state)
        assert after(state, Event.FAIL) == State.FAILED
        assert after(state, Event.CANCEL) == State.CANCELLED


def test_a_job_that_was_given_up_stays_so():
    for state, event in itertools.product(GIVEN_UP, Event):
        assert after(state, event) is None


def test_only_a_written_job_is_done_and_only_a_done_one_deleted():
    sources = {target: {s for (s, _), t in TRANSITIONS.items() if t == target} for target in State}
    assert sources[State.DONE] == {State.WRITTEN}
    assert sources[State.DELETED] == {State.DONE, State.DELETED}
    assert sources[State.WRITTEN] == {State.RUNNING}
    assert sources[State.RUNNING] == {State.QUEUED}


def test_groups_of_states():
    assert set(UNSTARTED) < set(UNWRITTEN) < set(OPEN)
    assert set(OPEN) | set(GIVEN_UP) | {State.DONE, State.DELETED} == set(State)
    assert {TRANSITIONS[State.QUEUED, event] for event in ENDINGS.values()} == set(GIVEN_UP)


def test_unknown_states_are_an_error():
    with pytest.raises(ValueError, match="lost"):
        after("lost", Event.START)
