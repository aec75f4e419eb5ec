import { err, ok, type Result } from '../../../lib/result.ts'
import { AccountAddress } from '../../../protocol/addresses.ts'
import { addressKeyPrefix } from '../../../protocol/ids.ts'
import { Committee, Congestion, Validator, Validators } from '../../../protocol/node-answers.ts'
import { type AccountId, CommitmentId } from '../../../protocol/primitives.ts'
import { parse } from '../../../protocol/schema/schema.ts'
import { readCongestion } from '../../../service/accounts/congestion.ts'
import {
  accountAddress,
  listValidators,
  readCommittee,
  readValidator,
  type ValidatorsPosition,
} from '../../../service/accounts/validators.ts'
import { type AddressError, addressKeyOf } from '../../../service/addresses/address-key.ts'
import type { Services } from '../../../service/services.ts'
import { parseSlot } from '../../../service/updates/update-position.ts'
import type { AddressNotAnAccount, QueryParameterMalformed } from '../../api-errors.ts'
import { toRest } from '../../errors.ts'
import { shapeOf } from '../openapi/from-schema.ts'
import { about, bech32, count, text, uint32 } from '../openapi/shape.ts'
import { param, type RestRequest, type Route } from '../route.ts'
import { answered, answerWith } from './answer.ts'

/** What accounts may issue and stake (rest.md 4.1). */

const params = { bech32Address: about('Bech32 text of an account of this network.', bech32) }

/** What an account pays for a block, and with what. */
export const congestionRoute: Route = {
  method: 'GET',
  path: '/api/core/v3/accounts/{bech32Address}/congestion',
  about: 'What an account pays for a block, and with what.',
  params,
  query: {
    commitmentId: about('As of which commitment; the newest by default.', shapeOf(CommitmentId)),
    workScore: about(
      'Of the block that is to be issued; there is no queue here it could wait in.',
      uint32,
    ),
  },
  answers: { 200: answered('Price and credits.', Congestion) },
  errors: [404],
  answer: async (request, services) => {
    const account = readAccount(request, services)
    if (!account.ok) return toRest(account.error)
    const query = readCongestionQuery(request.query)
    if (!query.ok) return toRest(query.error)
    const congestion = await readCongestion(services, account.value, query.value)
    if (!congestion.ok) return toRest(congestion.error)
    return answerWith(request, Congestion, congestion.value)
  },
}

const mostValidators = 100

/** The accounts that stand for the committee. */
export const validatorsRoute: Route = {
  method: 'GET',
  path: '/api/core/v3/validators',
  about: 'The accounts that announced their candidacy, the largest pool first, page by page.',
  query: {
    pageSize: about('At most 100, which is also what 0 and what is no number mean.', {
      ...count,
      default: mostValidators,
    }),
    cursor: about('Of the page before.', text),
  },
  answers: { 200: answered('A page of them.', Validators) },
  errors: [],
  answer: async (request, services) => {
    const after = readPlace(request.query.get('cursor'))
    if (!after.ok) return toRest(after.error)
    const pageSize = Math.min(
      Number(request.query.get('pageSize')) || mostValidators,
      mostValidators,
    )
    const size = Number.isInteger(pageSize) && pageSize > 0 ? pageSize : mostValidators
    const page = await listValidators(services, { after: after.value, pageSize: size })
    if (!page.ok) return toRest(page.error)
    const { validators, next } = page.value
    const cursor = next === undefined ? '' : `${next.epoch},${next.index}`
    return answerWith(request, Validators, { validators, pageSize: size, cursor })
  },
}

/** An account as a validator. */
export const validatorRoute: Route = {
  method: 'GET',
  path: '/api/core/v3/validators/{bech32Address}',
  about: 'What an account stakes, and what is delegated to it.',
  params,
  answers: { 200: answered('Its stakes.', Validator) },
  errors: [404],
  answer: async (request, services) => {
    const account = readAccount(request, services)
    if (!account.ok) return toRest(account.error)
    const validator = await readValidator(services, account.value)
    if (validator !== undefined) return answerWith(request, Validator, validator)
    return toRest({ code: 'NOT_FOUND', what: 'account', id: account.value })
  },
}

/** The committee of an epoch. */
export const committeeRoute: Route = {
  method: 'GET',
  path: '/api/core/v3/committee',
  about: 'The committee of an epoch; nobody where it is not known.',
  query: {
    epoch: about('The epoch of this moment by default.', uint32),
    epochIndex: about('The older name of `epoch`.', uint32),
  },
  answers: { 200: answered('Its members.', Committee) },
  errors: [],
  answer: async (request, services) => {
    const epoch = readEpoch(request.query)
    if (!epoch.ok) return toRest(epoch.error)
    const committee = await readCommittee(services, epoch.value)
    if (!committee.ok) return toRest(committee.error)
    const { members, ...rest } = committee.value
    const { parameters } = services.source.network
    return answerWith(request, Committee, {
      ...rest,
      committee: members.map(({ accountId, ...stakes }) => ({
        address: accountAddress(parameters, accountId),
        ...stakes,
      })),
    })
  },
}

const accountPrefix = addressKeyPrefix(AccountAddress)

function readAccount(
  request: RestRequest,
  { parameters }: Services,
): Result<AccountId, AddressError | AddressNotAnAccount> {
  const argument = 'bech32Address'
  const key = addressKeyOf(parameters.bech32Hrp, param(request, argument), argument)
  if (!key.ok) return key
  if (!key.value.startsWith(accountPrefix)) return err({ code: 'ADDRESS_NOT_AN_ACCOUNT', argument })
  return ok(`0x${key.value.slice(accountPrefix.length)}` as AccountId)
}

const newest = `0x${'00'.repeat(36)}` as CommitmentId

function readCongestionQuery(
  query: ReadonlyMap<string, string>,
): Result<CommitmentId, QueryParameterMalformed> {
  const workScore = query.get('workScore')
  if (workScore !== undefined && parseSlot(workScore) === undefined) {
    return malformed('workScore', 'a whole number from 0 to 4294967295')
  }
  const commitmentId = query.get('commitmentId')
  if (commitmentId === undefined) return ok(newest)
  const id = parse(CommitmentId, commitmentId)
  return id.ok ? ok(id.value) : malformed('commitmentId', '0x and the digits of 36 bytes')
}

/** An empty cursor means the beginning. */
function readPlace(
  cursor: string | undefined,
): Result<ValidatorsPosition | undefined, QueryParameterMalformed> {
  if (cursor === undefined || cursor === '') return ok(undefined)
  const [epoch, index, ...rest] = cursor.split(',').map(parseSlot)
  if (epoch === undefined || index === undefined || rest.length > 0) {
    return malformed('cursor', 'an epoch and a number, with a comma between')
  }
  return ok({ epoch, index })
}

function readEpoch(
  query: ReadonlyMap<string, string>,
): Result<number | undefined, QueryParameterMalformed> {
  const name = query.has('epoch') ? 'epoch' : 'epochIndex'
  const given = query.get(name)
  // Slots and epochs are numbers of the same width.
  const epoch = given === undefined ? undefined : parseSlot(given)
  if (given !== undefined && epoch === undefined) {
    return malformed(name, 'a whole number from 0 to 4294967295')
  }
  return ok(epoch)
}

function malformed(name: string, expected: string): Result<never, QueryParameterMalformed> {
  return err({ code: 'QUERY_PARAMETER_MALFORMED', name, expected })
}
