import type { EpochRewards } from '../ledger/rewards.ts'
import { parsedJson } from '../lib/json.ts'
import { AccountId, BaseToken, EpochIndex, Mana } from '../protocol/primitives.ts'
import { list, struct } from '../protocol/schema/declare.ts'
import { type Infer, parse, print, type Schema } from '../protocol/schema/schema.ts'
import { Allotment } from '../protocol/transaction.ts'
import type { CommitteeSeat } from './rows.ts'

/** JSON columns, for values that are always read as a whole. The schemas of the protocol serialize and parse them. */

const Allotments = list('u16', Allotment, { max: 65_535, size: 'LIST_COUNT' })

const Committee = list(
  'u16',
  struct('CommitteeSeat', {
    accountId: AccountId,
    poolStake: BaseToken,
    validatorStake: BaseToken,
    fixedCost: Mana,
  }),
  { max: 65_535, size: 'LIST_COUNT' },
)

const Candidates = list('u32', AccountId, { max: 0xffff_ffff, size: 'LIST_COUNT' })

const Rewards = struct('EpochRewards', {
  epoch: EpochIndex,
  totalStake: BaseToken,
  totalValidatorStake: BaseToken,
  profitMargin: Mana,
  targetReward: Mana,
  pools: list(
    'u16',
    struct('PoolRewards', {
      accountId: AccountId,
      poolStake: BaseToken,
      poolReward: Mana,
      fixedCost: Mana,
    }),
    { max: 65_535, size: 'LIST_COUNT' },
  ),
})

/** Serializes the allotments of a transaction; `null` if there are none. */
export function allotmentsJson(allotments: readonly Allotment[]): string | null {
  return allotments.length === 0 ? null : write(Allotments, allotments)
}

/** Parses the JSON of `allotmentsJson`. */
export function allotmentsFrom(text: string | null): readonly Allotment[] {
  return text === null ? [] : read('the allotments of a transaction', Allotments, text)
}

/** Serializes the committee of an epoch. */
export function committeeJson(committee: readonly CommitteeSeat[]): string {
  return write(Committee, committee)
}

/** Parses the JSON of `committeeJson`. */
export function committeeFrom(text: string): readonly CommitteeSeat[] {
  return read('the committee of an epoch', Committee, text)
}

/** Serializes the candidates of an epoch; `null` if there are none. */
export function candidatesJson(candidates: readonly AccountId[]): string | null {
  return candidates.length === 0 ? null : write(Candidates, candidates)
}

/** Parses the JSON of `candidatesJson`. */
export function candidatesFrom(text: string | null): readonly AccountId[] {
  return text === null ? [] : read('the candidates of an epoch', Candidates, text)
}

/** Serializes the rewards of an epoch; `null` if there are none. */
export function rewardsJson(rewards: EpochRewards | undefined): string | null {
  if (rewards === undefined) return null
  const { poolById, ...whole } = rewards
  const pools = [...poolById].map(([accountId, pool]) => ({ accountId, ...pool }))
  return write(Rewards, { ...whole, pools })
}

/** Parses the JSON of `rewardsJson`. */
export function rewardsFrom(text: string | null): EpochRewards | undefined {
  if (text === null) return undefined
  const { pools, ...whole }: Infer<typeof Rewards> = read('the rewards of an epoch', Rewards, text)
  return { ...whole, poolById: new Map(pools.map(({ accountId, ...pool }) => [accountId, pool])) }
}

function write<T>(schema: Schema<T>, value: T): string {
  return JSON.stringify(print(schema, value))
}

function read<T>(what: string, schema: Schema<T>, text: string): T {
  const value = parse(schema, parsedJson(text))
  if (value.ok) return value.value
  const { code, path } = value.error
  throw new ColumnUnreadable(`${what} cannot be read: ${code}${path && ` at ${path}`}`)
}

/** A JSON column holds what no version of this program writes: its row was damaged, or written by a build with an error. */
export class ColumnUnreadable extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ColumnUnreadable'
  }
}
