/** Whether variables can be of their types: what is no id is not asked for, for browsers log each refusal of a gateway as an error. */

/** How many bytes the ids have. */
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

/** Looks at ids and numbers alone; what a text may be is for the gateway to say. */
export function areWellFormed(document: string, variables: object): boolean {
  const typeByName = new Map(
    Array.from(document.matchAll(/\$(\w+): (\w+)/g), ([, name = '', type = '']) => [name, type]),
  )
  return Object.entries(variables).every(
    ([name, value]) => value === undefined || isWellFormed(typeByName.get(name) ?? '', value),
  )
}

/** Whether a value can be of a scalar of the schema. */
export function isWellFormed(type: string, value: unknown): boolean {
  if (type === 'UInt32')
    return Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 32
  const bytes = bytesById[type]
  if (bytes === undefined) return true
  return (
    typeof value === 'string' && value.length === 2 + 2 * bytes && /^0x[0-9a-fA-F]*$/.test(value)
  )
}
