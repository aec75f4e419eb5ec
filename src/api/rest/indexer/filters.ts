import type { Hex } from '../../../lib/hex.ts'
import { err, ok, type Result } from '../../../lib/result.ts'
import { AccountAddress } from '../../../protocol/addresses.ts'
import { addressKeyPrefix } from '../../../protocol/ids.ts'
import { FoundryId } from '../../../protocol/primitives.ts'
import { parse } from '../../../protocol/schema/schema.ts'
import { type AddressError, addressKeyOf } from '../../../service/addresses/address-key.ts'
import {
  type OutputFilter,
  type OutputTerm,
  type SlotBounds,
  type Term,
  unlockableTerms,
} from '../../../service/outputs/find-outputs.ts'
import { parseSlot } from '../../../service/updates/update-position.ts'
import type { AddressNotAnAccount, QueryParameterMalformed } from '../../api-errors.ts'
import { about, bech32, flag, named, type Shape, uint32 } from '../openapi/shape.ts'

/** The filters of the indexer, one for each query parameter (rest.md 5). */

/** Why a filter cannot be used. */
export type FilterError = AddressError | AddressNotAnAccount | QueryParameterMalformed

/** One parameter: how it is described, and what it asks of an output. */
export interface Filter {
  readonly shape: Shape
  read(text: string, name: string, hrp: string): Result<OutputFilter, FilterError>
}

function ofAddress(sentence: string, toFilter: (key: Hex) => OutputFilter): Filter {
  return {
    shape: about(sentence, bech32),
    read: (text, name, hrp) => {
      const key = addressKeyOf(hrp, text, `query: ${name}`)
      return key.ok ? ok(toFilter(key.value)) : key
    },
  }
}

function inRole(sentence: string, term: Term): Filter {
  return ofAddress(sentence, (value) => ({ keys: [{ kind: term, value }] }))
}

/** An address that only an account can be. */
function ofAccount(sentence: string, term: Term): Filter {
  const filter = inRole(sentence, term)
  return {
    ...filter,
    read: (text, name, hrp) => {
      const read = filter.read(text, name, hrp)
      const isAccount =
        read.ok &&
        read.value.keys?.every(({ value }) => value.startsWith(addressKeyPrefix(AccountAddress)))
      if (!read.ok || isAccount) return read
      return err({ code: 'ADDRESS_NOT_AN_ACCOUNT', argument: `query: ${name}` })
    },
  }
}

type FlagMember = 'hasReturn' | 'hasToken' | 'hasTimelock' | 'hasExpiration'

/** In the spellings that the node's own reader takes. */
const spellings: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((text) => [text, false] as const),
])

function whether(sentence: string, member: FlagMember): Filter {
  return {
    shape: about(sentence, flag),
    read: (text, name) => {
      const value = spellings.get(text)
      return value === undefined ? malformed(name, 'true or false') : ok({ [member]: value })
    },
  }
}

type SlotMember = 'timelocked' | 'expires' | 'created'

function slotBound(sentence: string, member: SlotMember, side: keyof SlotBounds): Filter {
  return {
    shape: about(sentence, uint32),
    read: (text, name) => {
      const slot = parseSlot(text)
      if (slot === undefined) return malformed(name, 'a whole number from 0 to 4294967295')
      return ok({ [member]: { [side]: slot } })
    },
  }
}

const tagForm = /^0x([0-9a-f]{2}){0,64}$/

const tag: Filter = {
  shape: about('Of the tag feature; the empty one asks for nothing.', {
    type: 'string',
    pattern: '^0x([0-9a-fA-F]{2}){0,64}$',
  }),
  read: (text, name) => {
    const value = text.toLowerCase()
    if (!isTag(value)) return malformed(name, '0x and the digits of at most 64 bytes')
    return ok(value === '0x' ? {} : { keys: [{ kind: 'TAG', value }] })
  },
}

function isTag(text: string): text is Hex {
  return tagForm.test(text)
}

const nativeToken: Filter = {
  shape: about('Whose native tokens it holds.', named('FoundryId')),
  read: (text, name) => {
    const id = parse(FoundryId, text)
    if (!id.ok) return malformed(name, '0x and the digits of 38 bytes')
    return ok({ keys: [{ kind: 'NATIVE_TOKEN', value: id.value }] })
  },
}

/** All filters by the name of their parameter. */
export const filters = {
  address: inRole('Of the address condition.', 'OWNER'),
  unlockableByAddress: ofAddress('Named by any condition.', (key) => ({
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

/** What some parameters ask together. An empty parameter asks for nothing. */
export function readFilters(
  query: ReadonlyMap<string, string>,
  names: readonly FilterName[],
  hrp: string,
): Result<OutputFilter, FilterError> {
  const keys: OutputTerm[] = []
  let whole: OutputFilter = {}
  for (const name of names) {
    const text = query.get(name)
    if (text === undefined || text === '') continue
    const filter = filters[name].read(text, name, hrp)
    if (!filter.ok) return filter
    const { timelocked, expires, created } = filter.value
    keys.push(...(filter.value.keys ?? []))
    whole = {
      ...whole,
      ...filter.value,
      timelocked: { ...whole.timelocked, ...timelocked },
      expires: { ...whole.expires, ...expires },
      created: { ...whole.created, ...created },
    }
  }
  return ok({ ...whole, keys })
}

function malformed(name: string, expected: string): Result<never, QueryParameterMalformed> {
  return err({ code: 'QUERY_PARAMETER_MALFORMED', name, expected })
}
