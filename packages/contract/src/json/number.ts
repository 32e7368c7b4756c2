/**
 * One spelling per number, without going through binary64: `JSON.parse` turns 12345678901234567890 into …7000.
 *
 * Integers keep every digit. Anything with a point or an exponent is reduced to its digits and a decimal exponent, and printed the way
 * JavaScript prints numbers, except that whole numbers are written out in full: 1e21, 1E+21 and 1000000000000000000000 are one value.
 */
export function canonicalNumber(lexeme: string): string {
  const match = NUMBER.exec(lexeme)
  if (!match) return lexeme
  const [, sign, whole, fraction = "", exponent = "0"] = match
  if (match[3] === undefined && match[4] === undefined) return whole === "0" ? "0" : `${sign}${whole}`

  const digits = (whole! + fraction).replace(/^0+/, "")
  const significant = digits.replace(/0+$/, "")
  if (significant === "") return "0"
  // The decimal point stands after `point` significant digits; a negative value means leading zeros behind "0.".
  const leadingZeros = whole!.length + fraction.length - digits.length
  const point = whole!.length - leadingZeros + Number(exponent)
  return sign + spell(significant, point)
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

// Every finite double written out in full has at most 309 digits, so all of them agree with their integer spelling;
// beyond that an exponent such as 1e999999999 must not become a gigabyte of zeros.
const LONGEST_WRITTEN_OUT = 400

function spell(digits: string, point: number): string {
  if (digits.length <= point && point <= LONGEST_WRITTEN_OUT) return digits + "0".repeat(point - digits.length)
  if (point > 0 && point < digits.length && point <= 21) return `${digits.slice(0, point)}.${digits.slice(point)}`
  if (point > -6 && point <= 0) return `0.${"0".repeat(-point)}${digits}`
  const mantissa = digits.length === 1 ? digits : `${digits[0]}.${digits.slice(1)}`
  return `${mantissa}e${point - 1}`
}
