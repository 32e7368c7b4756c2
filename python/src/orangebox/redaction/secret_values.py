"""
Whether a name tells that its value is a secret, and whether a value can be the secret that its name promises. The less the name says, the
more the value has to look like one.
"""

from __future__ import annotations

import hashlib
import math
import re
from functools import lru_cache

from ..contract import utf16
from .js_regex import js
from .mask import MASK_MIDDLE
from .rule_data import rules_file, word_list

# Placeholders and published examples.


@lru_cache(maxsize=1)
def _values() -> tuple[re.Pattern[str], re.Pattern[str], frozenset[str], frozenset[str], frozenset[int]]:
    values = rules_file()["values"]
    familiar = frozenset(
        (ord(line[0]) - 97) * 26 + ord(second) - 97 for line in word_list(values["letterPairs"]) for second in line[2:]
    )
    return (
        re.compile(values["filler"], re.ASCII),
        re.compile(values["reference"], re.ASCII),
        word_list(values["published"]),
        word_list(values["aboutPasswords"]),
        familiar,
    )


def is_placeholder(value: str) -> bool:
    """What people write where a secret will stand: `<your token>`, `${TOKEN}`, `xxxxxxxx`."""
    filler, reference = _values()[:2]
    return filler.search(value) is not None or reference.search(value) is not None or _is_repetition(value)


def _is_repetition(value: str) -> bool:
    """One character over and over is a drawing of a secret; so is a value that is nothing but zeros with something at its end."""
    return len(value) > 8 and len(set(value)) <= 2


_PUBLISHED_LENGTHS = frozenset((11, 14, 39))


def is_published_example(value: str) -> bool:
    """A value of a perfect form that its vendor prints as an example: kept as the beginnings of hashes."""
    if len(value) not in _PUBLISHED_LENGTHS:
        return False
    return hashlib.sha256(utf16.to_bytes(utf16.whole(value))).hexdigest()[:16] in _values()[2]


# Letters.


def count_letter_pairs(value: str) -> tuple[int, int]:
    """How many neighbours among its letters there are, and how many of them often stand together in words."""
    familiar_pairs = _values()[4]
    pairs = 0
    familiar = 0
    before = -1
    before_small = False
    for character in value:
        code = ord(character)
        letter = (code | 0x20) - 0x61
        if not (0 <= letter < 26 and code >= 0x41):
            letter = -1
        small = code >= 0x61
        # A capital behind a small letter begins the next word of a camelCase name.
        if before >= 0 and letter >= 0 and not (before_small and not small):
            pairs += 1
            if before * 26 + letter in familiar_pairs:
                familiar += 1
        before, before_small = letter, small
    return pairs, familiar


_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_DIGIT_INSIDE = re.compile(r"[a-z]\d[a-z\d]{0,6}\d?[a-z]", re.I | re.A)


def reads_like_name(value: str) -> bool:
    letters = 0
    in_words = 0
    for word in _WORDS.findall(value):
        letters += len(word)
        pairs, familiar = count_letter_pairs(word)
        if pairs >= 2 and familiar * 3 >= pairs * 2:
            in_words += len(word)
    return _DIGIT_INSIDE.search(value) is None if letters * 2 < len(value) else in_words * 5 >= letters * 3


# Names.

_OF_NPM = re.compile(r"^_(?:authToken|auth|password)\Z")
_CAMEL = re.compile(r"([a-z0-9])([A-Z])")
_CAPITALS = re.compile(r"([A-Z])([A-Z][a-z])")
_NO_WORD = re.compile(r"[^a-z0-9]+")
_NUMBER_LAST = re.compile(r"[0-9]+\Z")


@lru_cache(maxsize=1)
def _names() -> tuple[list[tuple[str, re.Pattern[str], re.Pattern[str] | None, bool]], frozenset[str], frozenset[str], frozenset[str], frozenset[str]]:
    names = rules_file()["names"]
    words = [
        (
            word["kind"],
            _whole(word["word"]),
            _whole(word["behind"]) if "behind" in word else None,
            word.get("isLast", False),
        )
        for word in names["words"]
    ]
    return words, word_list(names["keyOf"]), word_list(names["vendors"]), word_list(names["aboutIt"]), word_list(names["harmless"])


def _whole(pattern: str) -> re.Pattern[str]:
    return re.compile(f"^(?:{pattern})\\Z", re.ASCII)


@lru_cache(maxsize=4096)
def kind_of_name(name: str) -> str | None:
    """`DB_PASSWORD`, `clientSecret`, `x-api-key` tell; `max_tokens`, `tokenEndpoint` and `publicKey` do not."""
    return "password" if _OF_NPM.match(name) else _judge(_words_of(name))


def _words_of(name: str) -> list[str]:
    spaced = _CAPITALS.sub(r"\1 \2", _CAMEL.sub(r"\1 \2", name)).lower()
    return [word for part in _NO_WORD.split(spaced) if (word := _NUMBER_LAST.sub("", part)) != ""]


def _judge(words: list[str]) -> str | None:
    _, _, _, about_it, harmless = _names()
    for i in range(len(words) - 1, -1, -1):
        kind = _kind_of_word(words, i)
        if kind is None:
            continue
        if any(word in about_it for word in words[i + 1 :]) or any(word in harmless for word in words[:i]):
            return None
        return kind
    return None


def _kind_of_word(words: list[str], i: int) -> str | None:
    for kind, word, behind, is_last in _names()[0]:
        if word.match(words[i]) is None or (is_last and i < len(words) - 1):
            continue
        if behind is not None and behind.match(words[i - 1] if i > 0 else "") is None:
            continue
        return _kind_of_key(words, i) if kind == "key" else kind
    return None


def _kind_of_key(words: list[str], i: int) -> str | None:
    _, key_of, vendors, _, _ = _names()
    word = words[i]
    before = words[i - 1] if i > 0 else None
    if "softlayer" in words or "sl" in words:
        return "softlayer-key"
    if "ibm" in words or "iam" in words:
        return "ibm-key"
    if word == "key" and (before is None or not (before in key_of or before in vendors)):
        return None
    is_access_key = word.endswith("accesskey") or before == "access"
    is_secret = "secret" in words[:i] or word.startswith("secret")
    if "aws" in words and is_secret:
        return "aws-key"
    if is_access_key and is_secret:
        return "access-key"
    if before in ("secret", "private") or word.endswith(("secretkey", "privatekey")):
        return "secret"
    return "key"


# Values. How one is written: `quoted`; `named`, in quotes but only near the name; `bare`; `literal`, without quotes where no name of a
# variable can stand; `assigned`, there and right behind the `=` of its name.

_IN_BRACES = js(r"^\{([^{}\s]{8,200})\}$")
_HOLDS_MASK = js(f"(?:^|[^A-Za-z0-9])[^…]{{0,3}}{MASK_MIDDLE}[^…]{{0,3}}(?:$|[^A-Za-z0-9])")
_PATH = js(r"^(?:[/~.]|[A-Za-z]:[\\/])")
_KEY_FORMATS = {
    "access-key": js(r"^[\w+/=-]{40,}$"),
    "aws-key": js(r"^[A-Za-z0-9+/]{40}$"),
    "ibm-key": js(r"^[\w-]{44}$"),
    "softlayer-key": js(r"^[a-z0-9]{64}$"),
}
_PERIODIC = js(r"^(.{2,12})\1\1")
_ALPHABET = js(r"abcdefghij|qrstuvwxyz", "i")
_ANONYMOUS = js(r"^[\w.-]{1,32}@$")
_TOKEN = js(r"^[\w.~+/=%|^@!#$&*-]+$")
_HEX = js(r"^[0-9a-f]{14,}$")
_UUID = js(r"^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$", "i")
_BOOTSTRAP = js(r"^[a-z0-9]{6}\.[a-z0-9]{16}$")
_TELEGRAM = js(r"^\d{5,16}:A[\w-]{34}$")
_PRODUCT_KEY = js(
    r"^(?:[A-Z0-9]{4}(?:-[A-Z0-9]{4}){3,7}|[A-Z0-9]{5}(?:-[A-Z0-9]{5}){3,5}|[A-Z0-9]{6}(?:-[A-Z0-9]{6}){2,5})$"
)
_CONNECTION = js(r"[=@;]")
_NO_TOKEN = js(r"[\s:\\]")
_NAMED = js(r"passw(?:or)?d?|passphrase|secret|token|api[_-]?key|credentials?", "i")


def is_secret_value(value: str, kind: str, stated: str) -> bool:
    quoting = "literal" if stated == "assigned" else stated
    braced = _IN_BRACES.find(value)
    if braced is not None and looks_random(braced[1], 14):
        return True
    # What holds a mask was judged together with the secret that the mask hides, and is not judged again without it.
    if len(value) < 5 or _HOLDS_MASK.test(value) or is_placeholder(value) or _ANONYMOUS.test(value):
        return False
    is_chosen = quoting == "quoted" and _looks_chosen(value)
    is_given = is_chosen or (quoting == "literal" and not _PATH.test(value) and _looks_chosen(value, quoting))
    if kind == "password":
        if quoting == "literal" and not _PATH.test(value) and _is_plain_password(value):
            return True
        return is_given or _looks_typed(value, quoting) or (quoting == "quoted" and _is_plain_password(value))
    if kind == "secret":
        return (
            (is_given and not _ALPHABET.test(value))
            or looks_random(value, 10)
            or _is_unlike_names(value, quoting)
            or (_looks_typed(value, quoting) and (not _TOKEN.test(value) or _signs_in(value) >= 3))
        )
    if kind == "connection":
        return quoting != "bare" and len(value) >= 12 and _CONNECTION.test(value) and not _is_code(value)
    if kind in ("token", "key"):
        return (
            looks_random(value, 10 if stated == "assigned" else 14)
            or (is_given and (stated == "assigned" or _is_no_token(value)))
            or _is_unlike_names(value, quoting)
        )
    # The vendor says what its keys look like; what is shorter was cut, what is longer was encoded.
    return (
        (_KEY_FORMATS[kind].test(value) and _is_drawn(value))
        or (looks_random(value, 16) and not _PERIODIC.test(value))
        or (is_chosen and _is_no_token(value))
    )


def _is_unlike_names(value: str, quoting: str) -> bool:
    """Where only the value itself can stand, what does not read like a name of something is one."""
    if quoting in ("bare", "named") or len(value) < 14 or len(value) > 512:
        return False
    beginning = value[:256]
    return (
        _TOKEN.test(value)
        and not _PRODUCT_KEY.test(value)
        and not _is_code(value)
        and not spells_alphabet(beginning)
        and not is_mostly_one(beginning)
        and (_signs_in(value) >= 2 or not reads_like_name(beginning))
    )


def _is_no_token(value: str) -> bool:
    """Holds what no vendor puts into a token: then a person made it up."""
    return not _TOKEN.test(value) and not _NO_TOKEN.test(value)


def looks_random(value: str, shortest: int) -> bool:
    """Whether a value looks drawn by lot: letters and digits change places too often for words and numbers."""
    if len(value) < shortest:
        return False
    if not _TOKEN.test(value):
        return _TELEGRAM.test(value)
    if _UUID.test(value) or _BOOTSTRAP.test(value):
        return True
    if _PRODUCT_KEY.test(value):
        return not spells_alphabet(value, 5)
    beginning = value[:256]
    if spells_alphabet(beginning) or is_mostly_one(beginning) or _is_code(value):
        return False
    # A name of something secret is no secret, but chance or a prankster may have put one of these words into a key.
    return _is_drawn(_NAMED.sub("", beginning)) if _NAMED.test(value) else _is_drawn(beginning)


def _is_drawn(value: str) -> bool:
    digits, letters, changes, case_changes, words = _traits_of(value)
    size = len(value)
    if digits >= 3 and letters >= 2 and _HEX.test(value):
        return True
    if letters == 0:
        return digits >= 16 and digits == size and _entropy_of(value) >= 2
    if _entropy_of(value) < 2.7:
        return False
    if changes >= 3 and changes * 16 >= size:
        return True
    if digits > 0 and case_changes >= 4 and words * 5 >= size * 2:
        return True
    if size >= 20 and case_changes >= 8 and case_changes * 4 >= size:
        return True
    pairs, familiar = count_letter_pairs(value)
    is_mixed = digits > 0 or case_changes >= 3
    return pairs >= (5 if is_mixed else 15) and familiar * 2 <= pairs


_DOUBLED = re.compile(r"([a-z])\1")


def spells_alphabet(value: str, letters: int = 7) -> bool:
    """What spells a piece of the alphabet, or counts, was typed and not given out."""
    lower = _DOUBLED.sub(r"\1", value.lower())
    run = 1
    for before, character in zip(lower, lower[1:]):
        if run >= letters:
            break
        run = run + 1 if ord(character) == ord(before) + 1 else 1
    return run >= letters


def _low_bytes(value: str) -> bytes:
    return value.encode("latin-1") if value.isascii() else value.encode("utf-16-le", "surrogatepass")[::2]


def is_mostly_one(value: str) -> bool:
    """Nothing but one character, with something at its end: a drawing of a secret."""
    low = _low_bytes(value)
    half = len(value) / 2
    return any(low.count(byte) > half for byte in set(low))


def _entropy_of(value: str) -> float:
    low = _low_bytes(value)
    size = len(value)
    entropy = 0.0
    # In the order of the bytes, so that the sum is the same to the last bit.
    for byte in sorted(set(low)):
        share = low.count(byte) / size
        entropy -= share * math.log2(share)
    return entropy


_PLAIN_NAMED = js(r"^[A-Za-z_. -]+$")
_LETTERS_ONLY = js(r"^[A-Za-z_]+$")
_SPACE = js(r"\s")
_SENTENCE = js(r"[.?!:,](?:\s|$)|^[A-Z][a-z]+ [a-z]")


def _looks_chosen(value: str, quoting: str = "quoted") -> bool:
    """What a person would choose as a password, in quotes: anything but a plain word."""
    if len(value) < 6 or len(value) > 1024 or (_is_code(value, quoting) and not _is_dotted_password(value)):
        return False
    if _NAMED.test(value) and _PLAIN_NAMED.test(value):
        return False
    if _LETTERS_ONLY.test(value):
        return False
    if _SPACE.test(value):
        return len(value) >= 8 and not _SENTENCE.test(value)
    return True


_PLAIN_PASSWORD = js(r"^[A-Za-z]{6,32}$")


def _is_plain_password(value: str) -> bool:
    return _PLAIN_PASSWORD.test(value) and not _NAMED.test(value) and value.lower() not in _values()[3]


_DIGIT = js(r"\d")
_LETTER = js(r"[A-Za-z]")
_COUNTED = js(r"^[A-Z]?[a-z]+[._-]?\d{1,3}$")


def _looks_typed(value: str, quoting: str) -> bool:
    """The same without quotes, where it could as well be a word, a number or a piece of code."""
    if len(value) < 8 or (quoting in ("bare", "literal") and (_NAMED.test(value) or _is_code(value, quoting))):
        return False
    if len(value) >= 12 and _signs_in(value) >= (3 if quoting == "literal" else 4):
        return True
    return _DIGIT.test(value) and _LETTER.test(value) and not _COUNTED.test(value)


_NO_SIGNS = js(r"[\w\s.,:;-]")


def _signs_in(value: str) -> int:
    """How many different signs it has that do not stand in names, numbers and sentences."""
    # By characters, not units: JavaScript takes a text apart by code points there.
    return len(set(utf16.whole(_NO_SIGNS.sub("", value))))


_CODE = js(
    r"^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+\(?$|^[A-Za-z_$][\w$.]*(?:[([]|(?:->|::)[A-Za-z_$])|^\.{0,2}\/[\w.-]+\/|"
    r"^[\w.@-]+(?:\/[\w.@-]+)+\.[a-z]{1,5}$|^[a-z][a-z0-9+]{1,12}:\/\/|^\/.{2,200}\/[a-z]{0,4};?$"
)
_BRACKET_FIRST = js(r"^[A-Za-z_$][\w$.]*[([]")
_BRACKET_LAST = js(r"^[A-Za-z_$][\w$.]*[([]\s*$")
_CLOSED_LAST = js(r"[)\]](?:[.?][\w$.()?[\]]{0,80})?;?$")
_DOTTED = js(r"^[\w$]+(?:\.[\w$]+)+$")
_LETTER_DIGIT = js(r"[a-z]\d", "i")
_DRAWN_PART = js(r"^[\w-]{16,}$")


def _is_code(value: str, quoting: str = "bare") -> bool:
    """A member, a call, an index, a path, an address: something that is looked up, not the thing itself."""
    if not _CODE.test(value) or any(map(_is_drawn_part, value.split("."))):
        return False
    # Where nothing but the value can stand, a bracket makes it code only if it is closed as well.
    return quoting in ("bare", "named") or not _BRACKET_FIRST.test(value) or _is_balanced(value)


def _is_balanced(value: str) -> bool:
    return _BRACKET_LAST.test(value) or (
        _CLOSED_LAST.test(value) and value.count("(") == value.count(")") and value.count("[") == value.count("]")
    )


def _is_dotted_password(value: str) -> bool:
    return _DOTTED.test(value) and _LETTER_DIGIT.test(value)


def _is_drawn_part(part: str) -> bool:
    return _DRAWN_PART.test(part) and _traits_of(part)[2] >= 3


def _traits_of(value: str) -> tuple[int, int, int, int, int]:
    """Digits, letters, changes between the two, changes of case, and runs of one kind."""
    words = digits = letters = changes = case_changes = 0
    before = 0
    for character in value:
        if "0" <= character <= "9":
            now = 1
            digits += 1
        elif "a" <= character <= "z":
            now = 2
            letters += 1
        elif "A" <= character <= "Z":
            now = 3
            letters += 1
        else:
            before = 0
            continue
        if now != before:
            if not (now == 2 and before == 3):
                words += 1
            if before != 0:
                if now == 1 or before == 1:
                    changes += 1
                else:
                    case_changes += 1
        before = now
    return digits, letters, changes, case_changes, words


