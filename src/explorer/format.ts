/** Formats numbers and ids for display. */

/** A narrow no-break space, used only between groups of digits. */
export const thinSpace = '\u202f'

/** The maximum slot and epoch, which mean that there is no end. */
export const never = 0xffffffff

/** Formats a whole number in groups of three digits: 1 892 415. */
export function grouped(value: number | string | bigint): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, thinSpace)
}

/** Removes the spaces between groups of digits. */
export function ungrouped(text: string): string {
  return text.replaceAll(thinSpace, '')
}

/** Splits an amount in the smallest unit at the decimal point of the unit. */
export function inUnit(
  amount: string,
  decimals: number,
): { readonly sign: string; readonly whole: string; readonly fraction: string } {
  const sign = amount.startsWith('-') ? '−' : ''
  const digits = amount.replace('-', '').padStart(decimals + 1, '0')
  const at = digits.length - decimals
  return { sign, whole: grouped(digits.slice(0, at)), fraction: digits.slice(at) }
}

/**
 * Shortens an id to its beginning and its end. The end of an id of 36 bytes (a block, a transaction, a commitment) is its slot, which
 * it shares with all others of that time, so only its beginning is shown.
 */
export function shortened(id: string): string {
  if (id.startsWith('0x') && id.length === 74) return `${id.slice(0, 16)}…`
  const head = id.startsWith('0x') ? 10 : 8
  return id.length <= head + 8 ? id : `${id.slice(0, head)}…${id.slice(-6)}`
}

/** Converts the first letter to upper case. */
export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Splits a name of the schema into words: `StorageDepositReturn` becomes `storage deposit return`. */
export function words(name: string): string {
  return name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, ' ').toLowerCase()
}

/** Removes the characters that embed, override or isolate the direction of text, and so reorder the text around it. */
export function withoutDirections(text: string): string {
  return text.replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, '')
}
