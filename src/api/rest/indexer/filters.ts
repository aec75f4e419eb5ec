import type { Hex } from '../../../lib/hex.ts'
import { ok } from '../../../lib/result.ts'
import { FoundryId } from '../../../protocol/primitives.ts'
import { parse } from '../../../protocol/schema/schema.ts'
import {
  type OutputFilter,
  type OutputKey,
  type SlotBounds,
  unlockableTerms,
} from '../../../service/outputs/find-outputs.ts'
import { about, asItIs, type Form, flag, id } from '../form.ts'
import { account, address, malformed, number32, type Parameter } from '../parameters.ts'

/** The filters of the indexer, one for each query parameter (rest.md 5). */

type Filter = Parameter<OutputFilter>

/** A filter by a parameter; left out or empty, it filters nothing. */
function filter<T>({ shape, read }: Parameter<T>, toFilter: (value: T) => OutputFilter): Filter {
  return {
    shape,
    read: (text, context) => {
      if (text === undefined || text === '') return ok({})
      const value = read(text, context)
      return value.ok ? ok(toFilter(value.value)) : value
    },
  }
}

function inRole(sentence: string, kind: OutputKey['kind']): Filter {
  return filter(address(sentence), (value) => ({ keys: [{ kind, value }] }))
}

/** An address that only an account can have. */
function ofAccount(sentence: string, kind: OutputKey['kind']): Filter {
  return filter(account(sentence), (id) => ({ keys: [{ kind, value: `0x08${id.slice(2)}` }] }))
}

type FlagMember = 'hasReturn' | 'hasToken' | 'hasTimelock' | 'hasExpiration'

/** The texts that the node's own reader accepts. */
const flagByText: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((text) => [text, false] as const),
])

function whether(sentence: string, member: FlagMember): Filter {
  const read = (text: string) => flagByText.get(text)
  const form = { form: flag, read, expected: 'true or false' }
  return filter(written(sentence, form), (value) => ({ [member]: value }))
}

type SlotMember = 'timelocked' | 'expires' | 'created'

function slotBound(sentence: string, member: SlotMember, side: keyof SlotBounds): Filter {
  return filter(number32(sentence), (slot) => ({ [member]: { [side]: slot } }))
}

const tag = filter(
  written('Of the tag feature; the empty one filters nothing.', {
    form: asItIs({ type: 'string', pattern: '^0x([0-9a-fA-F]{2}){0,64}$' }),
    read: (text) => (isTag(text) ? (text.toLowerCase() as Hex) : undefined),
    expected: '0x and the digits of at most 64 bytes',
  }),
  (value) => (value === '0x' ? {} : { keys: [{ kind: 'TAG', value }] }),
)

function isTag(text: string): boolean {
  return /^0x([0-9a-f]{2}){0,64}$/i.test(text)
}

const nativeToken = filter(
  written('Whose native tokens it holds.', {
    form: id('FoundryId'),
    read: (text) => {
      const foundryId = parse(FoundryId, text)
      return foundryId.ok ? foundryId.value : undefined
    },
    expected: '0x and the digits of 38 bytes',
  }),
  (value) => ({ keys: [{ kind: 'NATIVE_TOKEN', value }] }),
)

/** A parameter of a form, which `read` gives no value of where the text is not of it. */
function written<T>(
  sentence: string,
  {
    form,
    read,
    expected,
  }: { form: Form<never>; read(text: string): T | undefined; expected: string },
): Parameter<T> {
  return {
    shape: about(sentence, form).shape,
    read: (text = '', { name }) => {
      const value = read(text)
      return value === undefined ? malformed(name, expected) : ok(value)
    },
  }
}

/** All filters by the name of their parameter. */
export const filters = {
  address: inRole('Of the address condition.', 'OWNER'),
  unlockableByAddress: filter(address('Named by any condition.'), (key) => ({
    anyOf: unlockableTerms(key),
  })),
  hasStorageDepositReturn: whether('With the storage deposit condition.', 'hasReturn'),
  storageDepositReturnAddress: inRole('Of that condition.', 'STORAGE_DEPOSIT_RETURN'),
  hasExpiration: whether('With the expiration condition.', 'hasExpiration'),
  expirationReturnAddress: inRole('Of that condition.', 'EXPIRATION_RETURN'),
  expiresBefore: slotBound('Its slot lies before this one.', 'expires', 'before'),
  expiresAfter: slotBound('Its slot lies after this one.', 'expires', 'after'),
  hasTimelock: whether('With the timelock condition.', 'hasTimelock'),
  timelockedBefore: slotBound('Its slot lies before this one.', 'timelocked', 'before'),
  timelockedAfter: slotBound('Its slot lies after this one.', 'timelocked', 'after'),
  hasNativeToken: whether('With a native token.', 'hasToken'),
  nativeToken,
  sender: inRole('Of the sender feature.', 'SENDER'),
  issuer: inRole('Of the issuer feature.', 'ISSUER'),
  tag,
  stateController: inRole('Of the state controller condition.', 'STATE_CONTROLLER'),
  governor: inRole('Of the governor condition.', 'GOVERNOR'),
  account: ofAccount('The account that controls it.', 'OWNER'),
  accountAddress: ofAccount('The newer name of `account`.', 'OWNER'),
  validator: ofAccount('The validator it delegates to.', 'VALIDATOR'),
  createdBefore: slotBound('Booked before this slot.', 'created', 'before'),
  createdAfter: slotBound('Booked after this slot.', 'created', 'after'),
} as const satisfies Readonly<Record<string, Filter>>

/** The name of a filter. */
export type FilterName = keyof typeof filters

/** All of some filters together. */
export function mergeFilters(filters: readonly OutputFilter[]): OutputFilter {
  const keys: OutputKey[] = []
  let whole: OutputFilter = {}
  for (const filter of filters) {
    keys.push(...(filter.keys ?? []))
    whole = {
      ...whole,
      ...filter,
      timelocked: { ...whole.timelocked, ...filter.timelocked },
      expires: { ...whole.expires, ...filter.expires },
      created: { ...whole.created, ...filter.created },
    }
  }
  return { ...whole, keys }
}
