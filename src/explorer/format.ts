/** Numbers and ids as text for people. */

/** A narrow space that no line is broken at: between groups of digits, and nowhere else. */
export const thinSpace = '\u202f'

/** A whole number in groups of three digits: 1 892 415. */
export function grouped(value: number | string | bigint): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, thinSpace)
}

/** An amount in the smallest unit, split at the decimal point of the unit. */
export function inUnit(
  amount: string,
  decimals: number,
): { readonly sign: string; readonly whole: string; readonly fraction: string } {
  const sign = amount.startsWith('-') ? '−' : ''
  const digits = amount.replace('-', '').padStart(decimals + 1, '0')
  const at = digits.length - decimals
  return { sign, whole: grouped(digits.slice(0, at)), fraction: digits.slice(at) }
}

/** The beginning and the end of an id. */
export function shortened(id: string): string {
  const head = id.startsWith('0x') ? 10 : 8
  return id.length <= head + 8 ? id : `${id.slice(0, head)}…${id.slice(-6)}`
}

/** A name of the schema as words: `StorageDepositReturn` as `storage deposit return`. */
export function words(name: string): string {
  return name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, ' ').toLowerCase()
}
