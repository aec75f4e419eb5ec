import { err, ok } from '../../../lib/result.ts'
import { Committee, Congestion, Validator, Validators } from '../../../protocol/node-answers.ts'
import { CommitmentId } from '../../../protocol/primitives.ts'
import { parse } from '../../../protocol/schema/schema.ts'
import { readCongestion } from '../../../service/accounts/congestion.ts'
import {
  accountAddress,
  listValidators,
  readCommittee,
  readValidator,
  type ValidatorsPosition,
} from '../../../service/accounts/validators.ts'
import { parseSlot } from '../../../service/updates/update-position.ts'
import { about, asItIs, text } from '../form.ts'
import { shapeOf } from '../openapi/from-schema.ts'
import { account, lenientPageSize, malformed, number32, type Parameter } from '../parameters.ts'
import { serialized } from '../reply.ts'
import { readRoute } from '../route.ts'

/** What accounts may issue and stake (rest.md 4.1). */

const params = { bech32Address: account('Bech32 text of an account of this network.') }

const newest = `0x${'00'.repeat(36)}` as CommitmentId

const commitmentId: Parameter<CommitmentId> = {
  shape: about('As of which commitment; the newest by default.', asItIs(shapeOf(CommitmentId)))
    .shape,
  read: (given, { name }) => {
    if (given === undefined) return ok(newest)
    const id = parse(CommitmentId, given)
    return id.ok ? ok(id.value) : malformed(name, '0x and the digits of 36 bytes')
  },
}

/** The price of a block for an account, and its credits. */
export const congestionRoute = readRoute({
  path: '/api/core/v3/accounts/{bech32Address}/congestion',
  about: 'What an account pays for a block, and with what.',
  params,
  query: {
    commitmentId,
    workScore: number32(
      'Of the block that is to be issued; there is no queue here it could wait in.',
    ),
  },
  reply: serialized('Price and credits.', Congestion),
  errors: [404],
  answer: ({ bech32Address, commitmentId }, services) =>
    readCongestion(services, bech32Address, commitmentId),
})

/** An empty cursor means the beginning. */
const validatorsCursor: Parameter<ValidatorsPosition | undefined> = {
  shape: about('Of the page before.', text).shape,
  read: (given = '', { name }) => {
    if (given === '') return ok(undefined)
    const [epoch, index, ...rest] = given.split(',').map(parseSlot)
    if (epoch === undefined || index === undefined || rest.length > 0) {
      return malformed(name, 'an epoch and a number, with a comma between')
    }
    return ok({ epoch, index })
  },
}

/** The registered validators. */
export const validatorsRoute = readRoute({
  path: '/api/core/v3/validators',
  about: 'The accounts that announced their candidacy, the largest pool first, page by page.',
  query: { pageSize: lenientPageSize(100), cursor: validatorsCursor },
  reply: serialized('A page of them.', Validators),
  answer: async ({ pageSize, cursor: after }, services) => {
    const page = await listValidators(services, { after, pageSize })
    if (!page.ok) return page
    const { validators, next } = page.value
    const cursor = next === undefined ? '' : `${next.epoch},${next.index}`
    return ok({ validators, pageSize, cursor })
  },
})

/** An account as a validator. */
export const validatorRoute = readRoute({
  path: '/api/core/v3/validators/{bech32Address}',
  about: 'What an account stakes, and what is delegated to it.',
  params,
  reply: serialized('Its stakes.', Validator),
  errors: [404],
  answer: async ({ bech32Address: id }, services) => {
    const validator = await readValidator(services, id)
    return validator === undefined ? err({ code: 'NOT_FOUND', what: 'account', id }) : ok(validator)
  },
})

/** The committee of an epoch. */
export const committeeRoute = readRoute({
  path: '/api/core/v3/committee',
  about: 'The committee of an epoch; empty where it is not known.',
  query: {
    epoch: number32('The epoch of this moment by default.'),
    epochIndex: number32('The older name of `epoch`.'),
  },
  reply: serialized('Its members.', Committee),
  answer: async ({ epoch, epochIndex }, services) => {
    const committee = await readCommittee(services, epoch ?? epochIndex)
    if (!committee.ok) return committee
    const { members, ...rest } = committee.value
    const { parameters } = services.source.network
    return ok({
      ...rest,
      committee: members.map(({ accountId, ...stakes }) => ({
        address: accountAddress(parameters, accountId),
        ...stakes,
      })),
    })
  },
})
