import type { Hex } from '../../../lib/hex.ts'
import { ok } from '../../../lib/result.ts'
import { AccountAddress } from '../../../protocol/addresses.ts'
import { addressKeyPrefix } from '../../../protocol/ids.ts'
import { FoundryId } from '../../../protocol/primitives.ts'
import { parse } from '../../../protocol/schema/schema.ts'
import {
  type OutputFilter,
  type OutputKey,
  type SlotBounds,
  unlockableKeys,
} from '../../../service/outputs/find-outputs.ts'
import { about, asItIs, type Form, flag, id } from '../form.ts'
import { account, address, malformed, number32, type Parameter } from '../parameters.ts'

/** The filters of the indexer, one per query parameter (rest.md 5). */

type Filter = Parameter<OutputFilter>

/** Creates a filter from a parameter; an absent or empty parameter filters nothing. */
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

function addressFilter(sentence: string, kind: OutputKey['kind']): Filter {
  return filter(address(sentence), (value) => ({ keys: [{ kind, value }] }))
}

/** Creates a filter by an account address. */
function accountFilter(sentence: string, kind: OutputKey['kind']): Filter {
  return filter(account(sentence), (id) => ({
    keys: [{ kind, value: `${addressKeyPrefix(AccountAddress)}${id.slice(2)}` }],
  }))
}

type FlagMember = 'hasReturn' | 'hasToken' | 'hasTimelock' | 'hasExpiration'

/** The texts that a node accepts as booleans. */
const flagByText: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((text) => [text, false] as const),
])

function flagFilter(sentence: string, member: FlagMember): Filter {
  const read = (text: string) => flagByText.get(text)
  const form = { form: flag, read, expected: 'true or false' }
  return filter(textParameter(sentence, form), (value) => ({ [member]: value }))
}

type SlotMember = 'timelocked' | 'expires' | 'created'

function slotFilter(sentence: string, member: SlotMember, side: keyof SlotBounds): Filter {
  return filter(number32(sentence), (slot) => ({ [member]: { [side]: slot } }))
}

const tag = filter(
  textParameter('Tag of the tag feature. An empty tag filters nothing.', {
    form: asItIs({ type: 'string', pattern: '^0x([0-9a-fA-F]{2}){0,64}$' }),
    read: (text) => (isTag(text) ? (text.toLowerCase() as Hex) : undefined),
    expected: 'at most 64 bytes as hexadecimal digits with the prefix 0x',
  }),
  (value) => (value === '0x' ? {} : { keys: [{ kind: 'TAG', value }] }),
)

function isTag(text: string): boolean {
  return /^0x([0-9a-f]{2}){0,64}$/i.test(text)
}

const nativeToken = filter(
  textParameter('Foundry whose native tokens the output holds.', {
    form: id('FoundryId'),
    read: (text) => {
      const foundryId = parse(FoundryId, text)
      return foundryId.ok ? foundryId.value : undefined
    },
    expected: '38 bytes as hexadecimal digits with the prefix 0x',
  }),
  (value) => ({ keys: [{ kind: 'NATIVE_TOKEN', value }] }),
)

/** Creates a parameter of a form; `read` returns `undefined` for an invalid text. */
function textParameter<T>(
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

/** All filters by parameter name. */
export const filters = {
  address: addressFilter('Address of the address unlock condition.', 'OWNER'),
  unlockableByAddress: filter(address('Address in any unlock condition.'), (key) => ({
    anyOf: unlockableKeys(key),
  })),
  hasStorageDepositReturn: flagFilter(
    'Whether the output has a storage deposit return unlock condition.',
    'hasReturn',
  ),
  storageDepositReturnAddress: addressFilter(
    'Return address of the storage deposit return unlock condition.',
    'STORAGE_DEPOSIT_RETURN',
  ),
  hasExpiration: flagFilter(
    'Whether the output has an expiration unlock condition.',
    'hasExpiration',
  ),
  expirationReturnAddress: addressFilter(
    'Return address of the expiration unlock condition.',
    'EXPIRATION_RETURN',
  ),
  expiresBefore: slotFilter('The output expires before this slot.', 'expires', 'before'),
  expiresAfter: slotFilter('The output expires after this slot.', 'expires', 'after'),
  hasTimelock: flagFilter('Whether the output has a timelock unlock condition.', 'hasTimelock'),
  timelockedBefore: slotFilter(
    'The slot of the timelock is before this slot.',
    'timelocked',
    'before',
  ),
  timelockedAfter: slotFilter(
    'The slot of the timelock is after this slot.',
    'timelocked',
    'after',
  ),
  hasNativeToken: flagFilter('Whether the output holds a native token.', 'hasToken'),
  nativeToken,
  sender: addressFilter('Address of the sender feature.', 'SENDER'),
  issuer: addressFilter('Address of the issuer feature.', 'ISSUER'),
  tag,
  stateController: addressFilter(
    'Address of the state controller unlock condition.',
    'STATE_CONTROLLER',
  ),
  governor: addressFilter('Address of the governor unlock condition.', 'GOVERNOR'),
  account: accountFilter('Address of the account that controls the foundry.', 'OWNER'),
  accountAddress: accountFilter('Newer name of `account`.', 'OWNER'),
  validator: accountFilter('Account address of the validator of the delegation.', 'VALIDATOR'),
  createdBefore: slotFilter('The output was booked before this slot.', 'created', 'before'),
  createdAfter: slotFilter('The output was booked after this slot.', 'created', 'after'),
} as const satisfies Readonly<Record<string, Filter>>

export type FilterName = keyof typeof filters

/** Combines filters; an output has to match all of them. */
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
