/** Checks variables before they are sent: malformed ids are not requested, because browsers log each refused request as an error. */

/** Number of bytes of each id. */
const bytesById: Readonly<Record<string, number>> = {
  AccountId: 32,
  AnchorId: 32,
  DelegationId: 32,
  NftId: 32,
  BlockId: 36,
  TransactionId: 36,
  FoundryId: 38,
  OutputId: 38,
}

/** Checks only ids and numbers; the gateway checks other texts. */
export function areWellFormed(document: string, variables: object): boolean {
  const typeByName = new Map(
    Array.from(document.matchAll(/\$(\w+): (\w+)/g), ([, name = '', type = '']) => [name, type]),
  )
  return Object.entries(variables).every(
    ([name, value]) => value === undefined || isWellFormed(typeByName.get(name) ?? '', value),
  )
}

/** Whether a value is well-formed for a scalar of the schema. */
export function isWellFormed(type: string, value: unknown): boolean {
  if (type === 'UInt32')
    return Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 32
  const bytes = bytesById[type]
  if (bytes === undefined) return true
  return (
    typeof value === 'string' && value.length === 2 + 2 * bytes && /^0x[0-9a-fA-F]*$/.test(value)
  )
}

/** Parses the index of a milestone or an epoch in a URL. Any other text becomes -1, which is not well-formed. */
export function indexIn(text: string): number {
  return /^[0-9]+$/.test(text) ? Number(text) : -1
}
