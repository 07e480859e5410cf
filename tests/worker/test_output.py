"""What a command prints is bounded here, whatever it prints."""

from __future__ import annotations

from fairway_worker.output import KEPT_BYTES, Output


def test_lines_come_whole_however_they_are_cut() -> None:
    lines: list[str] = []
    output = Output(lines.append)
    for part in (b"on", b"e\r\ntw", b"o\n\nthr", b"ee"):
        output.take(part)
    output.end()
    assert lines == ["one", "two", "", "three"]


def test_endless_output_without_a_line_break_is_cut_and_only_its_end_kept() -> None:
    lines: list[str] = []
    output = Output(lines.append)
    for _ in range(100):
        output.take(b"x" * 100_000)
    output.take(b"the end")
    output.end()
    assert sum(map(len, lines)) == 100 * 100_000 + len("the end")
    assert max(map(len, lines)) <= 16 * 1024
    assert len(output._kept) == KEPT_BYTES  # noqa: SLF001 - the bound itself is what is tested
    assert output.last_words().endswith("the end")
    assert len(output.last_words()) <= 3000


def test_last_words_are_the_last_lines() -> None:
    output = Output(lambda _: None)
    for number in range(1000):
        output.take(f"line {number}\n\n".encode())
    words = output.last_words().split("\n")
    assert (words[0], words[-1], len(words)) == ("line 980", "line 999", 20)


def test_last_words_hold_nothing_that_would_steer_a_terminal() -> None:
    output = Output(lambda _: None)
    output.take(b"\x1b[31mred\x1b[0m \x07bell\x00 tab\tkept\x9b\n")
    assert "\x1b" not in output.last_words()
    assert output.last_words().startswith("red bell tab\tkept")
