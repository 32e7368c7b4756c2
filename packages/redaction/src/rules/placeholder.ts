/**
 * What people write where a secret will stand: `<your token>`, `${TOKEN}`, `%s`, `xxxxxxxx`, `AKIAIOSFODNN7EXAMPLE`. Masking these would
 * only hide from the reader that there never was a secret.
 */
export function isPlaceholder(value: string): boolean {
  return FILLER.test(value) || REFERENCE.test(value) || isRepetition(value)
}

const FILLER =
  /x{6}|X{6}|\*{3}|\.{3}|…$|(?:^|[_-])EXAMPLE|EXAMPLE(?:KEY)?$|example[_-]?(?:key|token|secret)|(?<![A-Za-z0-9])(?:your|my|the)[_ -]|change[_-]?me|(?:replace|insert|put)[_-](?:me|with|your|this|here)|placeholder|dummy|<[a-z][\w .-]{0,60}>/
const REFERENCE =
  /^["']?(?:[$%](?![A-Za-z0-9-]{1,12}\$)(?:[{(A-Za-z_]|$)|[@#&](?:[{(]|[A-Za-z_][\w.-]{0,60}$|$)|\{\{|\{[\w.]{0,40}\}|%\w{1,40}%|\{%|<|\[|\(|%[sdv({]|process\.env|os\.environ|env[.[(]|ENV\[|secrets\.|vars?\.)|\$\{[\w.:?-]{1,60}\}|\$\([\w ./-]{1,60}\)/

// One character over and over is a drawing of a secret; so is a value that is nothing but zeros with something at its end.
function isRepetition(value: string): boolean {
  if (value.length <= 8) return false
  const first = value.charCodeAt(0)
  let second = first
  for (let i = 1; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if (code === first || code === second) continue
    if (second !== first) return false
    second = code
  }
  return true
}
