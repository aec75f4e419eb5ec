import { err, ok } from '../../../lib/result.ts'
import {
  Committee,
  Congestion,
  noCommitment,
  Validator,
  Validators,
} from '../../../protocol/node-responses.ts'
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

/** Routes for the congestion and the staking of accounts (rest.md 4.1). */

const params = { bech32Address: account('Account address of this network in Bech32.') }

const commitmentId: Parameter<CommitmentId> = {
  shape: about('Commitment to evaluate at; the newest by default.', asItIs(shapeOf(CommitmentId)))
    .shape,
  read: (given, { name }) => {
    if (given === undefined) return ok(noCommitment)
    const id = parse(CommitmentId, given)
    return id.ok
      ? ok(id.value)
      : malformed(name, '36 bytes as hexadecimal digits with the prefix 0x')
  },
}

/** The cost of a block for an account, and the block issuance credits of the account. */
export const congestionRoute = readRoute({
  path: '/api/core/v3/accounts/{bech32Address}/congestion',
  about:
    'Returns the reference mana cost of a block, and the block issuance credits of an account.',
  params,
  query: {
    commitmentId,
    workScore: number32(
      'Work score of the block to issue. It has no effect, because this gateway queues no blocks by work score.',
    ),
  },
  reply: serialized('The cost and the credits.', Congestion),
  errors: [404],
  answer: ({ bech32Address, commitmentId }, services) =>
    readCongestion(services, bech32Address, commitmentId),
})

/** The cursor of the list of validators; an empty cursor means the beginning. */
const validatorsCursor: Parameter<ValidatorsPosition | undefined> = {
  shape: about('Cursor from the previous page; empty for the first page.', text).shape,
  read: (given = '', { name }) => {
    if (given === '') return ok(undefined)
    const [epoch, index, ...rest] = given.split(',').map(parseSlot)
    if (epoch === undefined || index === undefined || rest.length > 0) {
      return malformed(name, 'an epoch and a number, separated by a comma')
    }
    return ok({ epoch, index })
  },
}

export const validatorsRoute = readRoute({
  path: '/api/core/v3/validators',
  about:
    'Returns the accounts that announced their candidacy, the largest pool first, page by page.',
  query: { pageSize: lenientPageSize(100), cursor: validatorsCursor },
  reply: serialized('A page of validators.', Validators),
  answer: async ({ pageSize, cursor: after }, services) => {
    const page = await listValidators(services, { after, pageSize })
    if (!page.ok) return page
    const { validators, next } = page.value
    const cursor = next === undefined ? '' : `${next.epoch},${next.index}`
    return ok({ validators, pageSize, cursor })
  },
})

export const validatorRoute = readRoute({
  path: '/api/core/v3/validators/{bech32Address}',
  about: 'Returns the stake of an account and the stake that is delegated to it.',
  params,
  reply: serialized('The stakes of the validator.', Validator),
  errors: [404],
  answer: async ({ bech32Address: id }, services) => {
    const validator = await readValidator(services, id)
    return validator === undefined ? err({ code: 'NOT_FOUND', what: 'account', id }) : ok(validator)
  },
})

export const committeeRoute = readRoute({
  path: '/api/core/v3/committee',
  about: 'Returns the committee of an epoch. The committee is empty if it is unknown.',
  query: {
    epoch: number32('The epoch; the current epoch by default.'),
    epochIndex: number32('Older name of `epoch`.'),
  },
  reply: serialized(
    'The members of the committee, the largest pool at its choice first.',
    Committee,
  ),
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
