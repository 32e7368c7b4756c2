"""The programs behind the shared vectors, made from seeds word for word as `scripts/python-vectors.mjs` makes them."""

from __future__ import annotations

from typing import Any

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
WORDS = ["plan", "read_file", "Fix the date", "größe", "日本語", "a.b-c", "path", "query", "x", "api_key"]
NUMBERS = [0, 1, -1, 0.1, 1.5, 1e21, 1e-7, 0.00001, 123456789.123, 9007199254740991, 1e16, 1.2345678901234567e20, -2.5e-9]
PIECES = [
    "plain words ",
    "Ünïcode ✓ ",
    "😀 emoji ",
    'quote " back\\slash ',
    "tab\tand\nline\r\n",
    "\u0000\u001f\u007f ",
    "\u2028sep\u2029",
    "\ud800 lone ",
    "https://user:pa55word@host/x?key=1 ",
    '{"role":"user","content":"hi"} ',
    "\u001b[31mred\u001b[0m ",
    "",
]
_MASK = 0xFFFFFFFF


class Drawer:
    def __init__(self, seed: int) -> None:
        self._state = (seed * 2654435761 + 1) & _MASK

    def _next(self) -> int:
        self._state = (self._state + 0x6D2B79F5) & _MASK
        t = self._state
        t = ((t ^ t >> 15) * (t | 1)) & _MASK
        t ^= (t + ((t ^ t >> 7) * (t | 61) & _MASK)) & _MASK
        return t ^ t >> 14

    def count(self, below: int) -> int:
        return self._next() % below

    def word(self) -> str:
        return WORDS[self.count(len(WORDS))]

    def letters(self, length: int) -> str:
        return "".join(LETTERS[self.count(len(LETTERS))] for _ in range(length))

    def _piece(self) -> str:
        what = self.count(12)
        if what == 0:
            return f"ghp_{self.letters(36)}"
        if what == 1:
            return f'DB_PASSWORD="{self.letters(14)}!"'
        if what == 2:
            return f"{self.letters(9)} " * self.count(80)
        return PIECES[self.count(len(PIECES))]

    def text(self) -> str:
        return "".join([self._piece() for _ in range(1 + self.count(5))])

    def object(self, depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for i in range(self.count(4)):
            key = f"{self.word()}{'abc'[i % 3]}"
            made[key] = self.value(depth + 1)
        return made

    def value(self, depth: int) -> Any:
        what = self.count(6 if depth > 2 else 9)
        if what < 3:
            return self.text()
        if what == 3:
            return NUMBERS[self.count(len(NUMBERS))]
        if what == 4:
            return self.count(2) == 0
        if what == 5:
            return self.count(100_000)
        if what == 6:
            return [self.value(depth + 1) for _ in range(self.count(4))]
        return self.object(depth)

    def attributes(self) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for i in range(self.count(4)):
            key = f"{self.word()}.{'xyz'[i % 3]}"
            made[key] = self.value(2)
        return made


def play(recorder: Any, random: Drawer, tick: Any) -> None:
    options: dict[str, Any] = {}
    entrypoint = random.word()
    if random.count(3) > 0:
        options["input"] = random.value(0)
    if random.count(2) > 0:
        options["conversation_id"] = random.word()
    if random.count(2) > 0:
        options["attributes"] = random.attributes()
    if random.count(3) > 1:
        options["user_session"] = random.word()
    run = recorder.start_run(entrypoint, **options)
    handles = [run]
    for _ in range(3 + random.count(9)):
        tick(random.count(4000))
        handle = handles[random.count(len(handles))]
        what = random.count(14)
        if what == 0:
            handles.append(handle.child(random.word(), random.attributes(), body=random.value(1)))
        elif what == 1:
            handle.log.write("info", random.text(), random.attributes())
        elif what == 2:
            handle.log.warn(random.text())
        elif what == 3:
            call = handle.start_tool(random.word(), random.object(1), call_id=random.word())
            tick(random.count(300))
            call.end_tool(result=random.value(1), exit_code=random.count(3))
        elif what == 4:
            call = handle.start_tool(random.word(), random.object(1), effect="read", timeout_ms=1000)
            call.end_tool(result=random.text(), status="partial")
        elif what == 5:
            handle.input_received(channels=[random.word()], value=random.value(1), policy_labels=[])
        elif what == 6:
            handle.prompt_rendered(random.text(), variables=random.object(1), template_id=random.word())
        elif what == 7:
            segment = {"contributor": random.word(), "kind": "persona", "role": "system", "content": random.text(), "tokens": 7}
            handle.prompt_assembled([segment])
        elif what == 8:
            handle.validator_decision(random.word(), "pass", reason=random.text())
        elif what == 9:
            handle.safety_decision(random.word(), "allow", version="2")
        elif what == 10:
            handle.set_attributes(**random.attributes())
        elif what == 11:
            from orangebox.contract import utf16

            reason = utf16.well_formed(utf16.units(random.text())[:40])
            handle.add_link(run_id=f"run_{'0' * 26}", kind="mentions", reason=reason)
        elif what == 12:
            made = {"id": random.word(), "type": "diff", "summary": random.word(), "content": random.text()}
            handle.artifact(**made, path="a/b.txt", lines_added=3)
        else:
            handle.decide("no_op", random.text(), random.value(1))
    for handle in reversed(handles[1:]):
        handle.end(attributes=random.attributes())
    tick(5)
    run.complete(random.value(0))


class CountedIds:
    def __init__(self) -> None:
        self._count = 0

    def _hex(self, digits: int) -> str:
        self._count += 1
        return f"{self._count:0{digits}x}"

    def run(self, at_ms: float) -> str:
        self._count += 1
        return f"run_{self._count:026}"

    def trace(self) -> str:
        return self._hex(32)

    def step(self) -> str:
        return self._hex(16)

    def event(self, at_ms: float) -> str:
        return f"00000000-0000-7000-8000-{self._hex(12)}"
