/**
 * What people write where a secret will stand: `<your token>`, `${TOKEN}`, `%s`, `xxxxxxxx`, `AKIAIOSFODNN7EXAMPLE`. Masking these would
 * only hide from the reader that there never was a secret.
 */
export function isPlaceholder(value: string): boolean {
  return FILLER.test(value) || REFERENCE.test(value) || isRepetition(value)
}

const FILLER =
  /x{6}|X{6}|\*{3}|\.{3}|…$|(?:^|[_-])EXAMPLE|EXAMPLE(?:KEY)?$|example[_-]?(?:key|token|secret)|(?:your|my|the)[_ -]|change[_-]?me|(?:replace|insert|put)[_-](?:me|with|your|this|here)|placeholder|dummy|<[a-z]/
const REFERENCE =
  /^["']?(?:[$%@#&](?:[{(A-Za-z_]|$)|\{\{|\{[\w.]{0,40}\}|%\w{1,40}%|\{%|<|\[|\(|%[sdv({]|process\.env|os\.environ|env[.[(]|ENV\[|secrets\.|vars?\.)|\$\{[\w.:?-]{1,60}\}|\$\([\w ./-]{1,60}\)/

// One character over and over is a drawing of a secret; so is a value that is nothing but zeros with something at its end.
function isRepetition(value: string): boolean {
  const counts = new Map<string, number>()
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1)
  return counts.size <= 2 && value.length > 8
}
