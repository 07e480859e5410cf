"""Codes, phases and verbs: nothing without its sentence or word."""

from __future__ import annotations

import string

import pytest

from fairway.api.codes import CODES, RefusalCode, refuse
from fairway.api.names import MAX_POOL_NAME, worker_deployment
from fairway.api.phases import USERS_WORDS, EventVerb, JobPhase


def test_every_code_has_a_sentence_and_is_named_as_it_is_written() -> None:
    assert set(CODES) == set(RefusalCode)
    for code in RefusalCode:
        assert code.name == code.value
        facts = {
            name: f"<{name}>" for _, name, _, _ in string.Formatter().parse(CODES[code].sentence) if name
        }
        refusal = refuse(code, **facts)
        assert all(fact in refusal.sentence for fact in facts.values())
        assert refusal.sentence.endswith((".", "<reason>"))
        assert refusal.temporary == CODES[code].temporary


def test_lists_of_facts_are_joined() -> None:
    assert "(long, short)" in refuse(RefusalCode.UNKNOWN_POOL, pool="x", known=["long", "short"]).sentence
    assert "(there is none)" in refuse(RefusalCode.UNKNOWN_POOL, pool="x", known=[]).sentence
    with pytest.raises(KeyError):
        refuse(RefusalCode.UNKNOWN_POOL)


def test_every_verb_has_its_users_word() -> None:
    assert set(USERS_WORDS) == set(EventVerb)
    assert EventVerb.LEASE.users_word == "dispatched"
    assert EventVerb.BURY.users_word == "dead-lettered"


def test_finished_phases() -> None:
    going_on = {JobPhase.PENDING, JobPhase.SCHEDULED, JobPhase.QUEUED, JobPhase.RUNNING}
    assert {phase for phase in JobPhase if not phase.finished} == going_on


def test_the_longest_pool_name_leaves_room_for_a_pods() -> None:
    pod = f"{worker_deployment('p' * MAX_POOL_NAME)}-5d4f8c7b9c-x2x4z"
    assert len(pod) <= 63
